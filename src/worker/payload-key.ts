import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { claimPrivate } from '../local/index.ts'
import { type KeyReference, loadKeyText } from '../stamp/index.ts'
import { Secret } from '../telemetry/index.ts'
import { WorkerError } from './error.ts'
import { createPayloadSeal, type PayloadKeys, type PayloadSeal } from './payload-seal.ts'

/** Where the key of a data folder stands. */
export const payloadKeyFile = (dataDir: string) => join(dataDir, 'payload.key')

/**
 * Loads what payloads at Temporal are sealed with: from where the settings say, or from the data folder, which gets a key of 32
 * random bytes at its first use (mode 0600). Its holder is believed by the workers of the folder. Throws
 * `worker/payload-key-unusable`, and what reading a key file throws (`stamp/…`).
 */
export async function loadPayloadSeal(dataDir: string, reference?: KeyReference): Promise<PayloadSeal> {
  const path = payloadKeyFile(dataDir)
  if (reference === undefined) claimPrivate(path, `${randomBytes(32).toString('hex')}\n`)
  const { text, where } = await loadKeyText(reference ?? { kind: 'file', path })
  return createPayloadSeal(parseKeys(text.reveal(), where), where)
}

/** One key a line; the first seals, and the others open what was sealed before it was changed. */
function parseKeys(text: string, where: string): PayloadKeys {
  const [first, ...older] = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim().toLowerCase()]))
  if (first === undefined || ![first, ...older].every((line) => /^[0-9a-f]{64}$/.test(line))) {
    throw new WorkerError('worker/payload-key-unusable', `${where} is not a list of payload keys`)
  }
  return [new Secret(first), ...older.map((line) => new Secret(line))]
}
