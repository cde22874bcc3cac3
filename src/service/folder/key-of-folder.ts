import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { KeeperTools } from '../../keepers/index.ts'
import { rewrapMasterKey } from '../master-key/index.ts'
import { MASTER_KEY_FILE, readMasterKey } from './files.ts'
import { nothingServed } from './snapshot.ts'

/**
 * Has a keeper wrap the master key of a folder, in the place of who kept it before; `none` writes it plain. A service that runs there
 * goes on with the key that it has. Throws `service/nothing-served`, `service/key-keeper-failed`, `service/master-key-…`.
 */
export async function wrapKeyOfFolder(
  dataDir: string,
  to: string,
  tools: KeeperTools,
): Promise<{ readonly from: string }> {
  const path = join(dataDir, MASTER_KEY_FILE)
  if (!existsSync(path)) throw nothingServed(dataDir)
  return rewrapMasterKey(path, to, { ...tools, readPlain: () => readMasterKey(path) })
}
