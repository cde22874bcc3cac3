/**
 * `node test/build-programs.ts FOLDER` writes the programs that tests start as processes of their own into a folder, as the
 * build writes the commands: from sources each start costs more than twice as much.
 */
import { bundle, LOADED_BY_PATH } from '../src/build/bundle.ts'
import { PROGRAMS } from './programs.ts'

await bundle([...PROGRAMS, ...LOADED_BY_PATH], process.argv[2]!)
