/** One bench, in the process that `main.ts` starts for it. */
import { BENCHES } from './benches.ts'

const { run } = await BENCHES[process.argv[2]!]!()
await run()
