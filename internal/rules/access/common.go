package access

// common are passwords of eight characters or more that are tried first.
var common = func() map[string]bool {
	set := map[string]bool{}
	for _, p := range []string{
		"password", "password1", "password12", "password123", "password1234", "passw0rd", "p@ssw0rd", "p@ssword", "12345678", "123456789", "1234567890",
		"123123123", "12341234", "11223344", "87654321", "987654321", "0987654321", "147258369", "123454321", "123321123", "1q2w3e4r", "1q2w3e4r5t", "1qaz2wsx",
		"q1w2e3r4", "qwerty12", "qwerty123", "qwerty1234", "qwertyui", "qwertyuiop", "qwer1234", "asdfghjk", "asdfghjkl", "asdf1234", "zxcvbnm1", "zaq12wsx",
		"abcd1234", "abc12345", "abcdefgh", "abcdefghi", "a1b2c3d4", "aa123456", "iloveyou", "iloveyou1", "sunshine", "sunshine1", "princess", "princess1",
		"football", "football1", "baseball", "baseball1", "superman", "superman1", "starwars", "trustno1", "whatever", "computer", "internet", "michelle",
		"jennifer", "michael1", "charlie1", "jordan23", "liverpool", "chelsea1", "arsenal1", "welcome1", "welcome123", "letmein1", "letmein123", "changeme",
		"changeme1", "changeme123", "admin123", "admin1234", "administrator", "root1234", "test1234", "testtest", "temp1234", "default1", "secret123", "mypassword",
		"monkey123", "dragon123", "shadow123", "master123", "freedom1", "blink182", "11111111", "00000000", "88888888", "99999999", "69696969", "01234567",
		"0123456789", "mustang1", "samsung1", "pokemon1", "hello123", "helloworld", "love1234", "angel123", "anthony1", "alexander", "elizabeth", "victoria",
		"summer2024", "winter2024", "spring2024", "summer2025", "winter2025", "spring2025", "summer2026", "winter2026", "spring2026", "lyceum123", "lyceum1234",
	} {
		set[p] = true
	}
	return set
}()
