import { createDatabase, dropDatabase } from '/work/main/test/support/postgres.ts';
import { migrate } from '/work/main/src/migrate.ts';
describe('x', () => { it('a', async () => { for (let i=0;i<3;i++) { console.time('c'); const u = await createDatabase(migrate); console.timeEnd('c'); console.time('d'); await dropDatabase(u);console.timeEnd('d'); } }); });
