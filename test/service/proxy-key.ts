import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { decodeHex, encodeHex } from '../../src/encoding/index.ts'
import { authProxyKeyPlace, createSealing } from '../../src/service/keys/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import type { TestClient, TestService } from './harness.ts'

/** Opens the key of the authentication proxy as a thief of data folder and master key would. */
export function stealProxyKey(service: TestService): TestClient {
  return service.client(openProxyKey(service.dataDir))
}

/** The private key of the authentication proxy of a data folder, in hex. */
export function openProxyKey(dataDir: string): string {
  const database = new DatabaseSync(join(dataDir, 'quorate.db'), { readOnly: true })
  const row = database.prepare('select organization_id as id, sealed_private_key as sealed from auth_proxies').get()!
  database.close()
  const masterKey = decodeHex(readFileSync(join(dataDir, 'master.key'), 'utf8').trim())
  const { unseal } = createSealing(new Secret(masterKey), (length) => new Uint8Array(length))
  return encodeHex(unseal(row['sealed'] as Uint8Array, authProxyKeyPlace(String(row['id']))))
}
