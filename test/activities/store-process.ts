/**
 * A machine that shares a plan store, for tests: claims each of the names, writes the record of each once more, and says on stdout
 * what it finds under each. `node store-process.ts FOLDER MINE NAMES`.
 */
import { join } from 'node:path'
import { createRecords } from '../../activities/records.ts'
import { openStoreFiles } from '../../activities/store-opened.ts'

const [folder = '', mine = '', names = '0'] = process.argv.slice(2)
const records = createRecords(folder, openStoreFiles(folder))
const found: (string | undefined)[] = []
// Ready, and then all at once.
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
process.stdin.destroy()
for (let name = 0; name < Number(names); name++) {
  const path = join(folder, 'spent', String(name).padStart(64, '0'))
  await records.claim(path, mine)
  found.push(await records.read(path))
  await records.write(join(folder, 'send-progress', String(name).padStart(64, '0')), mine)
}
process.stdout.write(`${JSON.stringify(found)}\n`)
