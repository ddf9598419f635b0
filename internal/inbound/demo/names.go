package demo

import (
	"strings"

	"github.com/lyceum-school/lyceum"
)

// fullName is a name as its bearer writes it, and its two parts in lowercase ASCII for
// email addresses.
type fullName struct{ text, given, family string }

// culture is the origin of a name.
type culture struct {
	home  country
	names []fullName
}

// country determines a buyer's currency and tax.
type country struct {
	currency lyceum.Currency // used where a plan has a price in it
	tax      int16           // on courses, in hundredths of a percent
}

// order is how the parts of a full name are put together.
type order uint8

const (
	givenFirst   order = iota // Lena Schäfer
	familyFirst               // Nagy Réka
	familyJoined              // 김민준
)

// nameList is a list of names separated by a comma and a space. A name that is not ASCII
// is followed by = and its spelling in an email address.
type nameList string

// nameTable has the names of one culture; share is its relative frequency, by default 1.
// Women's family names come from daughters where a culture distinguishes them. An
// Icelandic or Ethiopian second name is a patronymic, and is listed among the family
// names.
type nameTable struct {
	culture              string
	share                int
	home                 country
	order                order
	women, men           nameList
	families, daughterOf nameList
}

// cultures returns every full name that the tables can make. A culture is listed share
// times, so that a draw finds it that much more often.
func cultures() []culture {
	var made []culture
	for _, table := range nameTables {
		names := table.names()
		for range max(1, table.share) {
			made = append(made, culture{table.home, names})
		}
	}
	return made
}

func (n *nameTable) names() []fullName {
	daughters := n.daughterOf
	if daughters == "" {
		daughters = n.families
	}
	return append(fullNames(n.order, n.women, daughters), fullNames(n.order, n.men, n.families)...)
}

func fullNames(o order, given, families nameList) []fullName {
	var made []fullName
	for g, givenLatin := range given.each {
		for f, familyLatin := range families.each {
			text := g + " " + f
			switch o {
			case familyFirst:
				text = f + " " + g
			case familyJoined:
				text = f + g
			}
			made = append(made, fullName{text, givenLatin, familyLatin})
		}
	}
	return made
}

// each yields every name with its spelling in email addresses.
func (l nameList) each(yield func(name, latin string) bool) {
	for entry := range strings.SplitSeq(string(l), ", ") {
		name, latin, found := strings.Cut(entry, "=")
		if !found {
			latin = strings.NewReplacer(" ", "", "'", "").Replace(strings.ToLower(name))
		}
		if !yield(name, latin) {
			return
		}
	}
}

var unitedStates = country{currency: "USD"}

var nameTables = [...]nameTable{
	{
		culture: "American", share: 5, home: unitedStates,
		women:    "Emily, Jasmine, Madison, Grace, Denise",
		men:      "Michael, Tyler, Jamal, Ethan, Caleb",
		families: "Johnson, Williams, Brooks, Carter, Washington, Mitchell",
	}, {
		culture: "British", share: 4, home: country{"GBP", 2000},
		women:    "Charlotte, Imogen, Poppy, Harriet",
		men:      "Oliver, Alfie, Rhys, Hamish",
		families: "Davies, Hughes, MacLeod, Clarke, Whitfield, Fletcher",
	}, {
		culture: "Irish", home: country{"EUR", 2300},
		women:    "Aoife, Niamh, Saoirse, Gráinne=grainne, Sinéad=sinead",
		men:      "Cillian, Oisín=oisin, Pádraig=padraig, Tadhg",
		families: "Byrne, Kavanagh, O'Connor, Gallagher, O'Sullivan, Ryan",
	}, {
		culture: "Australian", share: 2, home: country{"AUD", 1000},
		women:    "Matilda, Kylie, Bronte, Sienna",
		men:      "Lachlan, Hugh, Angus, Cooper",
		families: "Thompson, Campbell, Kelly, Walsh, Robertson",
	}, {
		culture: "Québécois", share: 2, home: country{"CAD", 1498},
		women:    "Geneviève=genevieve, Noémie=noemie, Océane=oceane, Maude",
		men:      "Mathieu, Félix=felix, Jérôme=jerome, Cédric=cedric",
		families: "Tremblay, Gagnon, Bélanger=belanger, Côté=cote, Pelletier, Lavoie",
	}, {
		culture: "German", share: 2, home: country{"EUR", 1900},
		women:    "Lena, Käthe=kaethe, Anneliese, Frauke",
		men:      "Jürgen=juergen, Lukas, Matthias, Sören=soeren",
		families: "Müller=mueller, Schäfer=schaefer, Weiß=weiss, Groß=gross, Schmidt, Hoffmann",
	}, {
		culture: "French", share: 2, home: country{"EUR", 2000},
		women:    "Chloé=chloe, Élise=elise, Camille, Maëlle=maelle",
		men:      "Théo=theo, François=francois, Étienne=etienne, Loïc=loic",
		families: "Lefèvre=lefevre, Moreau, Dubois, Girard, Leroy, Béranger=beranger",
	}, {
		culture: "Dutch", home: country{"EUR", 2100},
		women:    "Sanne, Lotte, Femke, Noor",
		men:      "Daan, Jeroen, Bram, Thijs",
		families: "van den Berg, de Vries, Jansen, Bakker, van Dijk, Visser",
	}, {
		culture: "Spanish", home: country{"EUR", 2100},
		women: "Lucía=lucia, Carmen, Begoña=begona, Inés=ines",
		men:   "Álvaro=alvaro, Íñigo=inigo, Javier, Sergio",
		families: "García López=garcialopez, Núñez Ortega=nunezortega, Martín Romero=martinromero, " +
			"Ibáñez Vega=ibanezvega, Peña Castillo=penacastillo",
	}, {
		culture: "Mexican", home: country{"USD", 1600},
		women: "Guadalupe, Ximena, Sofía=sofia, Itzel",
		men:   "José Luis=joseluis, Emiliano, Ángel=angel, Diego",
		families: "Hernández Cruz=hernandezcruz, Ramírez Flores=ramirezflores, Juárez Mendoza=juarezmendoza, " +
			"Zúñiga Reyes=zunigareyes, Domínguez Luna=dominguezluna",
	}, {
		culture: "Brazilian", home: country{"USD", 0},
		women:    "Beatriz, Letícia=leticia, Júlia=julia, Antônia=antonia",
		men:      "João=joao, Thiago, Luís=luis, Sebastião=sebastiao",
		families: "Silva Santos, Gonçalves=goncalves, Araújo Lima=araujolima, Magalhães=magalhaes, Oliveira",
	}, {
		culture: "Italian", home: country{"EUR", 2200},
		women:    "Giulia, Chiara, Francesca, Noemi",
		men:      "Matteo, Niccolò=niccolo, Lorenzo, Davide",
		families: "Rossi, Bianchi, Esposito, Ferrari, D'Angelo, Conti",
	}, {
		culture: "Swedish", home: country{"EUR", 2500},
		women:    "Åsa=asa, Märta=marta, Elsa, Linnéa=linnea",
		men:      "Björn=bjorn, Göran=goran, Lars, Håkan=hakan",
		families: "Lindström=lindstrom, Åkesson=akesson, Sjöberg=sjoberg, Johansson, Öberg=oberg",
	}, {
		culture: "Icelandic", home: country{"USD", 2400},
		women:    "Guðrún=gudrun, Sigríður=sigridur, Þórdís=thordis, Hrafnhildur",
		men:      "Ólafur=olafur, Sigurður=sigurdur, Jón=jon, Gunnar",
		families: "Jónsson=jonsson, Þorsteinsson=thorsteinsson, Gunnarsson, Einarsson, Magnússon=magnusson",
		daughterOf: "Jónsdóttir=jonsdottir, Þorsteinsdóttir=thorsteinsdottir, Gunnarsdóttir=gunnarsdottir, " +
			"Einarsdóttir=einarsdottir, Magnúsdóttir=magnusdottir",
	}, {
		culture: "Finnish", home: country{"EUR", 2400},
		women:    "Aino, Päivi=paivi, Sanna, Helmi",
		men:      "Väinö=vaino, Jari, Mikko, Eero",
		families: "Mäkinen=makinen, Virtanen, Hämäläinen=hamalainen, Korhonen, Järvinen=jarvinen",
	}, {
		culture: "Polish", home: country{"EUR", 2300},
		women:      "Zofia, Małgorzata=malgorzata, Agnieszka, Łucja=lucja",
		men:        "Łukasz=lukasz, Paweł=pawel, Stanisław=stanislaw, Michał=michal",
		families:   "Kowalski, Wiśniewski=wisniewski, Wójcik=wojcik, Dąbrowski=dabrowski, Zieliński=zielinski",
		daughterOf: "Kowalska, Wiśniewska=wisniewska, Wójcik=wojcik, Dąbrowska=dabrowska, Zielińska=zielinska",
	}, {
		culture: "Czech", home: country{"EUR", 2100},
		women:      "Tereza, Kateřina=katerina, Eliška=eliska, Jana",
		men:        "Jiří=jiri, Tomáš=tomas, Ondřej=ondrej, Petr",
		families:   "Novák=novak, Dvořák=dvorak, Černý=cerny, Procházka=prochazka, Svoboda",
		daughterOf: "Nováková=novakova, Dvořáková=dvorakova, Černá=cerna, Procházková=prochazkova, Svobodová=svobodova",
	}, {
		culture: "Hungarian", home: country{"EUR", 2700}, order: familyFirst,
		women:    "Eszter, Réka=reka, Zsófia=zsofia, Katalin",
		men:      "Gábor=gabor, László=laszlo, Bence, Ádám=adam",
		families: "Nagy, Szabó=szabo, Kovács=kovacs, Tóth=toth, Horváth=horvath, Kőszegi=koszegi",
	}, {
		culture: "Turkish", home: country{"USD", 2000},
		women:    "Ayşe=ayse, Elif, Gülsüm=gulsum, Zeynep",
		men:      "Çağlar=caglar, Mehmet, İbrahim=ibrahim, Oğuz=oguz",
		families: "Yılmaz=yilmaz, Öztürk=ozturk, Şahin=sahin, Demir, Çelik=celik, Aydın=aydin",
	}, {
		culture: "Ukrainian", home: country{"USD", 2000},
		women: "Оксана=oksana, Наталія=nataliia, Юлія=yuliia, Соломія=solomiia",
		men:   "Тарас=taras, Андрій=andrii, Олексій=oleksii, Богдан=bohdan",
		families: "Шевченко=shevchenko, Бондаренко=bondarenko, Коваленко=kovalenko, " +
			"Ткачук=tkachuk, Мельник=melnyk, Кравчук=kravchuk",
	}, {
		culture: "Bulgarian", home: country{"EUR", 2000},
		women:      "Елена=elena, Десислава=desislava, Радка=radka, Мария=mariya",
		men:        "Георги=georgi, Димитър=dimitar, Стоян=stoyan, Пламен=plamen",
		families:   "Иванов=ivanov, Петров=petrov, Димитров=dimitrov, Стоянов=stoyanov, Колев=kolev",
		daughterOf: "Иванова=ivanova, Петрова=petrova, Димитрова=dimitrova, Стоянова=stoyanova, Колева=koleva",
	}, {
		culture: "Greek", home: country{"EUR", 2400},
		women: "Ελένη=eleni, Αικατερίνη=aikaterini, Δέσποινα=despoina, Ιωάννα=ioanna",
		men:   "Γιώργος=giorgos, Δημήτρης=dimitris, Νίκος=nikos, Θανάσης=thanasis",
		families: "Παπαδόπουλος=papadopoulos, Οικονόμου=oikonomou, Νικολαΐδης=nikolaidis, " +
			"Γεωργίου=georgiou, Βλάχος=vlachos",
		daughterOf: "Παπαδοπούλου=papadopoulou, Οικονόμου=oikonomou, Νικολαΐδου=nikolaidou, " +
			"Γεωργίου=georgiou, Βλάχου=vlachou",
	}, {
		culture: "Georgian", home: country{"USD", 1800},
		women: "ნინო=nino, თამარ=tamar, მარიამ=mariam, ქეთევან=ketevan",
		men:   "გიორგი=giorgi, დავით=davit, ლევან=levan, ზურაბ=zurab",
		families: "ბერიძე=beridze, კაპანაძე=kapanadze, გელაშვილი=gelashvili, " +
			"მაისურაძე=maisuradze, ლომიძე=lomidze, ჯაფარიძე=japaridze",
	}, {
		culture: "Armenian", home: country{"USD", 2000},
		women: "Անահիտ=anahit, Նարե=nare, Մարիամ=mariam, Լուսինե=lusine",
		men:   "Արմեն=armen, Տիգրան=tigran, Հայկ=hayk, Դավիթ=davit",
		families: "Հակոբյան=hakobyan, Պետրոսյան=petrosyan, Սարգսյան=sargsyan, " +
			"Գրիգորյան=grigoryan, Հարությունյան=harutyunyan",
	}, {
		culture: "Israeli", home: country{"USD", 1800},
		women:    "נועה=noa, תמר=tamar, שירה=shira, יעל=yael",
		men:      "אורי=uri, איתן=eitan, יונתן=yonatan, דוד=david",
		families: "כהן=cohen, לוי=levi, מזרחי=mizrahi, פרץ=peretz, ביטון=biton, אברהמי=avrahami",
	}, {
		culture: "Arab", home: country{"USD", 500},
		women: "فاطمة=fatima, ليلى=layla, مريم=maryam, نور=nour",
		men:   "محمد=mohamed, أحمد=ahmed, يوسف=youssef, خالد=khaled",
		families: "الحسيني=alhusseini, المصري=almasri, حداد=haddad, منصور=mansour, " +
			"الخطيب=alkhatib, عبد الرحمن=abdelrahman",
	}, {
		culture: "Iranian", home: country{"USD", 0},
		women:    "شیرین=shirin, نسرین=nasrin, پریسا=parisa, مینا=mina",
		men:      "آرش=arash, بهرام=bahram, کاوه=kaveh, رضا=reza",
		families: "محمدی=mohammadi, کریمی=karimi, رستمی=rostami, جعفری=jafari, تهرانی=tehrani",
	}, {
		culture: "North Indian", home: country{"INR", 1800},
		women:    "प्रिया=priya, अनन्या=ananya, सुनीता=sunita, कविता=kavita",
		men:      "राहुल=rahul, अर्जुन=arjun, विक्रम=vikram, रोहन=rohan",
		families: "शर्मा=sharma, वर्मा=verma, गुप्ता=gupta, यादव=yadav, मिश्रा=mishra, सिंह=singh",
	}, {
		culture: "Tamil", home: country{"INR", 1800},
		women: "லட்சுமி=lakshmi, மீனா=meena, கவிதா=kavitha, தமிழ்ச்செல்வி=tamilselvi",
		men:   "முருகன்=murugan, கார்த்திக்=karthik, செந்தில்=senthil, அருண்=arun",
		families: "சுப்பிரமணியன்=subramanian, ராஜேந்திரன்=rajendran, கிருஷ்ணன்=krishnan, " +
			"நடராஜன்=natarajan, வேலு=velu",
	}, {
		culture: "Bangladeshi", home: country{"USD", 1500},
		women:    "নাসরিন=nasrin, ফারহানা=farhana, সুমাইয়া=sumaiya, রুমানা=rumana",
		men:      "আরিফ=arif, তানভীর=tanvir, রফিক=rafiq, মাহমুদ=mahmud",
		families: "রহমান=rahman, চৌধুরী=chowdhury, সরকার=sarkar, ইসলাম=islam, হোসেন=hossain",
	}, {
		culture: "Chinese", home: country{"USD", 600}, order: familyJoined,
		women:    "静=jing, 丽华=lihua, 雨桐=yutong, 芳=fang",
		men:      "伟=wei, 志强=zhiqiang, 子轩=zixuan, 建国=jianguo",
		families: "王=wang, 李=li, 张=zhang, 陈=chen, 刘=liu, 欧阳=ouyang",
	}, {
		culture: "Taiwanese", home: country{"USD", 500}, order: familyJoined,
		women:    "雅婷=yating, 淑芬=shufen, 怡君=yichun, 佩珊=peishan",
		men:      "志明=chihming, 家豪=chiahao, 俊傑=chunchieh, 冠宇=kuanyu",
		families: "林=lin, 黃=huang, 蔡=tsai, 鄭=cheng, 謝=hsieh, 郭=kuo",
	}, {
		culture: "Japanese", share: 3, home: country{"JPY", 1000}, order: familyFirst,
		women:    "美咲=misaki, さくら=sakura, 陽子=yoko, エミ=emi",
		men:      "健太=kenta, 翔=sho, 大輔=daisuke, 浩=hiroshi",
		families: "佐藤=sato, 鈴木=suzuki, 高橋=takahashi, 渡辺=watanabe, 中村=nakamura, 小林=kobayashi",
	}, {
		culture: "Korean", home: country{"USD", 1000}, order: familyJoined,
		women:    "서연=seoyeon, 지우=jiwoo, 민지=minji, 하은=haeun",
		men:      "민준=minjun, 도윤=doyun, 준호=junho, 성민=seongmin",
		families: "김=kim, 이=lee, 박=park, 최=choi, 정=jung, 강=kang",
	}, {
		culture: "Vietnamese", home: country{"USD", 1000}, order: familyFirst,
		women:    "Thị Hương=thihuong, Ngọc Lan=ngoclan, Thu Trang=thutrang, Mỹ Linh=mylinh",
		men:      "Văn Dũng=vandung, Quốc Bảo=quocbao, Minh Đức=minhduc, Hữu Phước=huuphuoc",
		families: "Nguyễn=nguyen, Trần=tran, Lê=le, Phạm=pham, Đặng=dang, Võ=vo",
	}, {
		culture: "Thai", home: country{"USD", 700},
		women:    "สมหญิง=somying, มาลี=malee, ปิยะดา=piyada, กานดา=kanda",
		men:      "สมชาย=somchai, วิชัย=wichai, ธนพล=thanaphon, อนุชา=anucha",
		families: "แสงทอง=saengthong, ศรีสุข=srisuk, วงศ์ใหญ่=wongyai, บุญมี=boonmee, ใจดี=jaidee",
	}, {
		culture: "Filipino", home: country{"USD", 1200},
		women:    "Maria Cristina, Analyn, Liza, Rosalinda",
		men:      "Jose Mari, Rodel, Efren, Joselito",
		families: "Dela Cruz, Reyes, Bautista, Mercado, Villanueva",
	}, {
		culture: "Indonesian", home: country{"USD", 1100},
		women:    "Siti, Dewi, Ratna, Ayu",
		men:      "Budi, Agus, Wahyu, Joko",
		families: "Santoso, Wibowo, Setiawan, Nugroho, Hidayat",
	}, {
		culture: "Māori", home: country{"AUD", 1500},
		women:    "Aroha, Mereana, Hine, Ngaire",
		men:      "Tāne=tane, Wiremu, Hēmi=hemi, Rāwiri=rawiri",
		families: "Ngata, Te Kanawa, Parata, Pōtae=potae, Tāmihana=tamihana",
	}, {
		culture: "Yoruba", home: country{"USD", 750},
		women:    "Títílayọ=titilayo, Fọláṣadé=folasade, Yétúndé=yetunde, Adéọlá=adeola",
		men:      "Olúwaṣeun=oluwaseun, Babátúndé=babatunde, Káyọdé=kayode, Fẹmi=femi",
		families: "Adébáyọ=adebayo, Ògúndípẹ=ogundipe, Awólọwọ=awolowo, Balógun=balogun, Ṣóyínká=soyinka",
	}, {
		culture: "Ghanaian", home: country{"USD", 0},
		women:    "Ama, Akosua, Efua, Abena",
		men:      "Kwame, Kofi, Yaw, Kwabena",
		families: "Mensah, Owusu, Boateng, Asante, Agyeman",
	}, {
		culture: "Kenyan", home: country{"USD", 1600},
		women:    "Wanjiru, Akinyi, Amina, Neema",
		men:      "Kamau, Otieno, Juma, Baraka",
		families: "Mwangi, Odhiambo, Kariuki, Njoroge, Mutua",
	}, {
		culture: "Ethiopian", home: country{"USD", 1500},
		women:    "ሕይወት=hiwot, ሰላም=selam, ትዕግስት=tigist, መሠረት=meseret",
		men:      "አበበ=abebe, ዳዊት=dawit, ተስፋዬ=tesfaye, ሙሉጌታ=mulugeta",
		families: "ታደሰ=tadesse, ከበደ=kebede, ገብረማርያም=gebremariam, ኃይሉ=hailu, ደሳለኝ=desalegn",
	},
}
