// Verifies the messages of a file, a line each: node verify.mjs FILE SECRET
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
const [file, secret] = process.argv.slice(2);
const webhook = new Webhook(secret);
for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
  const { headers, body } = JSON.parse(line);
  webhook.verify(body, headers);
}
