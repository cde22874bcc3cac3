/**
 * Makes a namespace of a Temporal server that runs elsewhere, such as in a container, and says how many days closed runs are kept in it:
 * `node make-namespace.js NAME DAYS`. Where the server is, and with which certificate it is asked, `TEMPORAL_…` variables say.
 */
import { Connection } from '@temporalio/client'
import { ensureNamespace } from './namespace.ts'
import { readProfile } from './profile.ts'

/** A server that has just begun to listen does not answer at once. */
const TRIES = 60
const PAUSE_MS = 1_000

const [namespace, days] = process.argv.slice(2)
if (namespace === undefined || !/^[1-9]\d{0,3}$/.test(days ?? '')) {
  process.stderr.write('expected the name of a namespace and for how many days closed runs are kept in it\n')
  process.exit(1)
}
const { connectionOptions } = readProfile()
for (let tried = 1; ; tried++) {
  try {
    const connection = await Connection.connect(connectionOptions)
    await ensureNamespace(connection, { namespace, retentionDays: Number(days) })
    await connection.close()
    break
  } catch (error) {
    if (tried === TRIES) throw error
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}
