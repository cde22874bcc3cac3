import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeHex, encodeHex } from '../../src/encoding/index.ts'
import { authProxyKeyPlace, createSealing } from '../../src/service/keys/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import type { TestClient, TestService } from './harness.ts'
import { rowsOf } from './rows.ts'

/** Opens the key of the authentication proxy as a thief of data folder and master key would. */
export async function stealProxyKey(service: TestService): Promise<TestClient> {
  return service.client(await openProxyKey(service))
}

/** The private key of the authentication proxy of an organization of a data folder, in hex. */
export async function openProxyKey({
  dataDir,
  organizationId,
}: Pick<TestService, 'dataDir' | 'organizationId'>): Promise<string> {
  const rows = await rowsOf(dataDir, 'select organization_id as id, sealed_private_key as sealed from auth_proxies')
  const row = rows.find(({ id }) => String(id) === organizationId)
  const masterKey = decodeHex(readFileSync(join(dataDir, 'master.key'), 'utf8').trim())
  const { unseal } = createSealing(new Secret(masterKey), (length) => new Uint8Array(length))
  return encodeHex(unseal(row!['sealed'] as Uint8Array, authProxyKeyPlace(String(row!['id']))))
}
