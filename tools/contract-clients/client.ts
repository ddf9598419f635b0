// What a stranger's program does with the documents. It is compiled and never
// run: a field that changes its name or its type fails here.
import type { operations as V1 } from './build/v1';
import type { operations as V2 } from './build/v2';
import type { operations as Own } from './build/lyceum';

type Asked<O> = O extends { parameters: { query?: infer Query } } ? Query : never;
type Sent<O> = O extends { requestBody: { content: { 'application/json': infer Body } } } ? Body : never;
type Told<O, Status extends number = 200> = O extends { responses: { [S in Status]: { content: { 'application/json': infer Body } } } } ? Body : never;

async function ask<Body>(path: string, query: object = {}, method = 'GET', body?: object): Promise<Body> {
  const address = `http://127.0.0.1:8080${path}?${new URLSearchParams(Object.entries(query).map(([k, v]) => [k, String(v)]))}`;
  const headers = { apiKey: 'key', 'Content-Type': 'application/json' };
  return (await fetch(address, { method, headers, redirect: 'error', body: body && JSON.stringify(body) })).json() as Promise<Body>;
}

const wanted: Asked<V1['ListCourses']> = { name: 'watercolour', is_published: true, per: 100 };
const { courses, meta } = await ask<Told<V1['ListCourses']>>('/v1/courses', wanted);
const heading: string | null | undefined = courses[0]?.heading;
const pages: number = meta.number_of_pages;

const jonas: Sent<V1['CreateUser']> = { email: 'jonas@example.com', src: null };
const { id, tags } = await ask<Told<V1['CreateUser'], 201>>('/v1/users', {}, 'POST', jonas);
const users = await ask<Told<V1['ListUsers']>>('/v1/users', { search_after: id } satisfies Asked<V1['ListUsers']>);
const next: number[] | undefined = users.meta.search_after;

const v2 = await ask<Told<V2['listProductCourses']>>('/v2/products/courses', { sort_by: 'name' } satisfies Asked<V2['listProductCourses']>);
console.log(heading, pages, tags.map((tag) => tag.name), next, v2.data[0]?.is_listed, v2.meta.total_pages);

const bought: Sent<Own['createSale']> = { user_id: id, pricing_plan_id: 3, reference: 'ch_3Ox9' };
const { sale } = await ask<Told<Own['createSale'], 201>>('/lyceum/v1/sales', {}, 'POST', bought);
const paid: number = sale.transactions[0]?.charge ?? 0;
const feed = await ask<Told<Own['listChanges']>>('/lyceum/v1/changes', { after: 0, wait: 30 } satisfies Asked<Own['listChanges']>);
const last: number = feed.changes[0]?.number ?? feed.next;
export { paid, last };
