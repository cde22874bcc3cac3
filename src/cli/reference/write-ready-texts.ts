/** `node src/cli/reference/write-ready-texts.ts FOLDER`, a step of the build: writes what `--help` and `completion` print beside the program. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mainPath } from '../main-path.ts'
import { READY_TEXTS, TEXTS } from '../ready-text.ts'

const [program = '.'] = process.argv.slice(2)
const folder = join(program, TEXTS)
mkdirSync(folder)
for (const [asked, file] of Object.entries(READY_TEXTS)) {
  const text = execFileSync(process.execPath, [mainPath, ...asked.split(' ')], { env: { FORCE_COLOR: '1' } })
  writeFileSync(join(folder, file), text)
}
