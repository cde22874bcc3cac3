import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { generateP256KeyPair } from '../crypto/index.ts'
import { ensurePrivateFolder } from '../local/index.ts'
import { loadPrivateKey, writePrivateKey } from '../stamp/index.ts'
import { Secret } from '../telemetry/index.ts'

/** A key that `up` made for a demo approver. */
export interface DemoKey {
  readonly name: string
  readonly file: string
  readonly privateKey: Secret
  readonly publicKey: string
}

/** The demo key of a name, made the first time, in `keys/` of the data folder, readable by its owner alone. */
export async function demoKey(dataDir: string, name: string): Promise<DemoKey> {
  const folder = join(dataDir, 'keys')
  const file = join(folder, `${name}.json`)
  // Who may write here could put another key in place of one.
  ensurePrivateFolder(folder)
  if (!existsSync(file)) {
    const { privateKey, publicKey } = generateP256KeyPair()
    await writePrivateKey(file, { privateKey: new Secret(privateKey), publicKey })
  }
  return { name, file, ...(await loadPrivateKey({ kind: 'file', path: file })) }
}
