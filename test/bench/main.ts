/** `npm run bench [name]`: runs one bench of the table, or all of them, each in a process and a folder of its own. */
import { BENCHES } from './benches.ts'
import { removeLeftovers, runInFolder } from './folder.ts'

const asked = process.argv[2]
const names = asked === undefined ? Object.keys(BENCHES) : [asked]
for (const name of names) {
  if (!Object.hasOwn(BENCHES, name)) {
    console.error(`there is no bench \`${name}\`; there are: ${Object.keys(BENCHES).join(', ')}`)
    process.exit(2)
  }
}
removeLeftovers()
for (const name of names) {
  console.log(`# ${name}`)
  const code = await runInFolder(new URL('./one.ts', import.meta.url), [name])
  if (code !== 0) process.exitCode = code
}
