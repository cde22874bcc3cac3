/**
 * Build: a door, and a program: `node src/build/build.ts FOLDER` writes the commands into a folder as few files, with the
 * workflows bundled beside them. A command then starts in a third of the time, and a worker in a second less. Of packages, small
 * ones are bundled (`bundle.ts`); for others the folder stands where they are found, below a `package.json` with the version.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleWorkflows, WORKFLOWS_FILE } from '../worker/index.ts'
import { bundle, LOADED_BY_PATH } from './bundle.ts'

const PROGRAMS = ['src/cli/main.ts', 'src/testing/start-quorate.ts', 'src/testing/test-service.ts']

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('expected the folder to write into')
rmSync(folder, { recursive: true, force: true })
await bundle([...PROGRAMS, ...LOADED_BY_PATH], folder)
chmodSync(join(folder, 'main.js'), 0o755)
const { code } = await bundleWorkflows()
writeFileSync(join(folder, WORKFLOWS_FILE), code)
// The texts of help and completion, so that neither has to load the commands.
execFileSync(process.execPath, [join(import.meta.dirname, '../cli/reference/write-ready-texts.ts'), folder])
