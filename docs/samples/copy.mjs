// Keeps a copy of a school in a file: node copy.mjs http://127.0.0.1:8080 API_KEY copy.json
import { readFileSync, renameSync, writeFileSync, existsSync } from 'node:fs';
const [server, apiKey, file] = process.argv.slice(2);
const copy = existsSync(file) ? JSON.parse(readFileSync(file)) : { next: 0, objects: {} };
for (;;) {
  const answer = await fetch(`${server}/lyceum/v1/changes?after=${copy.next}&limit=10000&wait=30`,
    { headers: { apiKey }, redirect: 'manual' }); // send the key only to this server
  if (!answer.ok) throw new Error(`${answer.status} ${answer.headers.get('location') ?? await answer.text()}`);
  const { changes, next } = await answer.json();
  const restored = changes.findLast(({ type, number }) => type === 'school.restored' && number > (copy.restored ?? 0));
  if (restored) { // what the backup did not have is gone: begin again
    Object.assign(copy, { next: 0, objects: {}, restored: restored.number });
    continue;
  }
  for (const { type, id, object } of changes) copy.objects[`${type.split('.')[0]} ${id}`] = object ?? undefined;
  copy.next = next;
  writeFileSync(`${file}.new`, JSON.stringify(copy));
  renameSync(`${file}.new`, file); // atomic
}
