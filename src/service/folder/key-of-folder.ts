import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createPooledRandomBytes } from '../../crypto/index.ts'
import type { KeeperTools } from '../../keepers/index.ts'
import { Secret } from '../../telemetry/index.ts'
import { ServiceError } from '../error.ts'
import { nameOfKey } from '../keys/index.ts'
import { keepBeside, openMasterKey, rewrapMasterKey } from '../master-key/index.ts'
import {
  assertNewestFile,
  assertNewestServer,
  createPostgresReader,
  createReader,
  type KeyHolder,
  type KeyRotation,
  listKeyHolders,
  type PostgresSettings,
  readKeyRotation,
} from '../store/index.ts'
import { DATABASE_FILE, MASTER_KEY_FILE, MASTER_KEY_LENGTH, NEXT_KEY_FILE, readMasterKey } from './files.ts'
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
  refuseDuringRotation(dataDir)
  return rewrapMasterKey(path, to, { ...tools, readPlain: () => readMasterKey(path) })
}

/**
 * Puts a new master key beside that of a folder, kept by the same keeper. The service of the folder takes it up, and seals everything
 * anew. Throws as `wrapKeyOfFolder` does, and `service/key-rotation-under-way`.
 */
export async function rotateKeyOfFolder(
  dataDir: string,
  tools: KeeperTools,
): Promise<{ readonly name: string; readonly keeper: string; readonly file: string }> {
  const path = join(dataDir, MASTER_KEY_FILE)
  if (!existsSync(path)) throw nothingServed(dataDir)
  refuseDuringRotation(dataDir)
  const key = new Secret(createPooledRandomBytes()(MASTER_KEY_LENGTH))
  const file = join(dataDir, NEXT_KEY_FILE)
  const { keeper } = await keepBeside(path, file, key, tools)
  return { name: nameOfKey(key), keeper, file }
}

/** Opens the key that is to take the place of a folder's master key; undefined where there is none. */
export async function openNextKey(dataDir: string, tools: KeeperTools): Promise<Secret<Uint8Array> | undefined> {
  const path = join(dataDir, NEXT_KEY_FILE)
  if (!existsSync(path)) return undefined
  return (await openMasterKey(path, tools)) ?? readMasterKey(path)
}

/**
 * How far the rotation of an installation's master key is; absent where there was none; and what processes hold. Throws
 * `StoreUnavailable` and `service/schema-differs`.
 */
export async function readRotationOfFolder(
  dataDir: string,
  database: PostgresSettings | undefined,
): Promise<{ readonly isNextThere: boolean; readonly rotation?: KeyRotation; readonly holders: readonly KeyHolder[] }> {
  const path = join(dataDir, DATABASE_FILE)
  if (!database && !existsSync(path)) throw nothingServed(dataDir)
  if (database) await assertNewestServer(database)
  else assertNewestFile(path)
  const rows = database ? createPostgresReader(database) : { read: createReader(path), close: () => {} }
  try {
    const [rotation, holders] = await rows.read(
      async (tx) => [await readKeyRotation(tx), await listKeyHolders(tx)] as const,
    )
    return { isNextThere: existsSync(join(dataDir, NEXT_KEY_FILE)), ...(rotation ? { rotation } : {}), holders }
  } finally {
    await rows.close()
  }
}

function refuseDuringRotation(dataDir: string): void {
  const file = join(dataDir, NEXT_KEY_FILE)
  if (!existsSync(file)) return
  throw new ServiceError('service/key-rotation-under-way', `\`${file}\` is there: the master key is being changed`, {
    facts: { file, changed: 'nothing' },
    next: 'let the service of this folder run until `quorate master-key status` says that it is done',
  })
}
