/**
 * Seals what goes to Temporal: AES-256-GCM (NIST SP 800-38D) under a key of the data folder, with the place that a payload is for
 * as additional data (namespace, workflow id and, for steps, the id of the step). An attacker who reaches Temporal reads nothing of a
 * payload, makes none, and cannot hand in one place's at another.
 *
 * A sealed payload's `data` is a nonce of 12 random bytes, the ciphertext and a tag of 16 bytes; its `metadata` names the encoding
 * and the id of the key, so that keys can be changed: the first key seals, all of them open. It also names the place, for readers who
 * are not told of one (`openAsNamed`); who acts on a payload takes the place from where it came, and never from there.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common'
import { REFUSED, sideOf } from '../../workflows/sealed.ts'
import type { Secret } from '../telemetry/index.ts'

/** What a client and a worker seal and open payloads with. */
export interface PayloadSeal {
  /** Of the key that seals. It tells nothing of the key. */
  readonly keyId: string
  /** Of all keys, that which seals first. */
  readonly keyIds: readonly string[]
  /** Where the keys were read from, for people. */
  readonly where: string
  /** Calls with the id of each key that a payload was sealed with and that is none of these, once for each. */
  onMissingKey(listener: (keyId: string) => void): void
  /** Opens what it can; what it cannot becomes a payload that says so, since one that failed would hold up a workflow for ever. */
  readonly codec: PayloadCodec
  /**
   * Opens a payload for the place that it names itself, for people who read a history. It may have been moved from one place of a
   * history to another: nothing may be decided by it. Undefined where no key of these opens it.
   */
  openAsNamed(payload: Payload): Payload | undefined
}

/** 256 bits each; the first seals. */
export type PayloadKeys = readonly [Secret, ...Secret[]]

const SEALED = 'binary/quorate-sealed'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Makes a seal of keys, each 64 hex digits. */
export function createPayloadSeal(keys: PayloadKeys, where = 'what was given'): PayloadSeal {
  const byId = new Map(keys.map((key) => [idOf(key), Buffer.from(key.reveal(), 'hex')]))
  const keyId = idOf(keys[0])

  const seal = (payload: Payload, context: SerializationContext | undefined): Payload => {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', byId.get(keyId)!, nonce, { authTagLength: TAG_BYTES })
    const place = placeOf(keyId, context)
    cipher.setAAD(place)
    const sealed = Buffer.concat([nonce, cipher.update(pack(payload)), cipher.final(), cipher.getAuthTag()])
    return { metadata: { encoding: Buffer.from(SEALED), key: Buffer.from(keyId), place }, data: sealed }
  }
  const open = ({ metadata, data }: Payload, place: (keyId: string) => Uint8Array): Payload | undefined => {
    const id = textOf(metadata?.['key'])
    const key = byId.get(id)
    if (textOf(metadata?.['encoding']) !== SEALED || key === undefined || !data) return undefined
    if (data.length < NONCE_BYTES + TAG_BYTES) return undefined
    const decipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAAD(place(id))
    decipher.setAuthTag(data.subarray(data.length - TAG_BYTES))
    try {
      const packed = [decipher.update(data.subarray(NONCE_BYTES, data.length - TAG_BYTES)), decipher.final()]
      const payload = unpack(Buffer.concat(packed))
      return sideOf(payload) === undefined ? undefined : payload
    } catch {
      return undefined
    }
  }
  const missing = new Set<string>()
  const listeners: ((keyId: string) => void)[] = []
  const refuse = (payload: Payload): Payload => {
    const id = keyIdOf(payload)
    if (id === undefined || byId.has(id))
      return { metadata: { encoding: Buffer.from(REFUSED) }, data: new Uint8Array() }
    // Anybody can write an id: few are kept.
    if (!missing.has(id) && missing.size < MOST_MISSING) {
      missing.add(id)
      for (const listener of listeners) listener(id)
    }
    return { metadata: { encoding: Buffer.from(REFUSED), missing: Buffer.from(id) }, data: new Uint8Array() }
  }
  return {
    keyId,
    keyIds: [...byId.keys()],
    where,
    onMissingKey(listener) {
      listeners.push(listener)
    },
    codec: {
      encode: async (payloads, context) => payloads.map((payload) => seal(payload, context)),
      decode: async (payloads, context) =>
        payloads.map((payload) => open(payload, (id) => placeOf(id, context)) ?? refuse(payload)),
    },
    openAsNamed(payload) {
      const place = payload.metadata?.['place']
      return place ? open(payload, () => place) : undefined
    },
  }
}

/** Ids of missing keys that are told of. */
const MOST_MISSING = 100

/** The id of the key that a payload says it was sealed with; undefined for what is not sealed. */
export function keyIdOf({ metadata }: Payload): string | undefined {
  const id = textOf(metadata?.['key'])
  return textOf(metadata?.['encoding']) === SEALED && /^[0-9a-f]{16}$/.test(id) ? id : undefined
}

function idOf(key: Secret): string {
  return createHash('sha256').update(`quorate payload key ${key.reveal()}`).digest('hex').slice(0, 16)
}

/** The place that a payload is for, as additional data. */
function placeOf(keyId: string, context: SerializationContext | undefined): Buffer {
  const { type, namespace } = context ?? {}
  const workflowId = context?.workflowId === undefined ? undefined : placeOfRun(context.workflowId)
  const step = context?.type === 'activity' ? context.activityId : undefined
  return Buffer.from(JSON.stringify(['quorate.payload/1', keyId, type, namespace, workflowId, step]))
}

/**
 * A Schedule seals what its runs begin with before it knows when they do: Temporal adds the time to the id of each
 * (`reconcile/<organization>-2026-01-31T10:00:00Z`). Its runs all begin with the same, so they are one place.
 */
function placeOfRun(workflowId: string): string {
  return workflowId.replace(/^(reconcile\/[0-9a-f-]{36})-\d{4}-\d\d-\d\dT[\d:.]+Z$/, '$1')
}

/** Length of the metadata as four bytes, the metadata as JSON with hex values, the data. */
function pack({ metadata, data }: Payload): Buffer {
  const entries = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString('hex')])
  const head = Buffer.from(JSON.stringify(entries))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(head.length)
  return Buffer.concat([length, head, data ?? new Uint8Array()])
}

function unpack(packed: Buffer): Payload {
  const end = 4 + packed.readUInt32BE(0)
  const entries = JSON.parse(packed.toString('utf8', 4, end)) as [string, string][]
  // A copy of its own: a view into Node's pool would carry the pool with it into a workflow's isolate.
  const data = new Uint8Array(packed.subarray(end))
  return {
    metadata: Object.fromEntries(entries.map(([name, hex]) => [name, new Uint8Array(Buffer.from(hex, 'hex'))])),
    data,
  }
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return bytes ? Buffer.from(bytes).toString() : ''
}
