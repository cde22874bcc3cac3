/**
 * Another master key while the service works (docs/master-key.md#another-key). The key comes as a file beside the old one. No process
 * seals with it before all can open what it seals, and nothing is sealed anew before all seal with it, so that once a whole pass has
 * found nothing under the old key, nothing will be.
 */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { KeeperTools } from '../../keepers/index.ts'
import { readPrivate, writePrivate } from '../../local/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import { ServiceError } from '../error.ts'
import { type Keyring, type Resealed, resealSome, SEALED_COLUMNS } from '../keys/index.ts'
import {
  countSilentServices,
  type Database,
  type KeyHolder,
  type KeyRotation,
  type Lease,
  listKeyHolders,
  overwriteFreed,
  readKeyRotation,
  stepKeyRotation,
  type TrackedDatabase,
  writeKeyRotation,
} from '../store/index.ts'
import { MASTER_KEY_FILE, NEXT_KEY_FILE } from './files.ts'
import type { KeyHolding } from './key-holding.ts'
import { openNextKey } from './key-of-folder.ts'

/** How often a process looks whether there is a new key, and how far the others are. */
const LOOK_MS = 1_000

/** How long a new key is only learned, at least: also by a proxy beside SQLite, which says what it holds once there is a new key. */
const ANNOUNCED_MS = 3_000

/** How long processes may take before it is said that the change waits for them. */
const PATIENCE_MS = 6_000

/** How long the old key is kept once nothing is sealed under it: what was read before may still be opened. */
const KEPT_MS = 10_000

/** Rows that are looked at at once, to begin with and at most, and how long they may take. */
const ROWS = { first: 16, most: 256, withinMs: 10 } as const

export interface KeyRotationTools {
  readonly dataDir: string
  readonly database: Pick<Database, 'read' | 'isShared'>
  /** Of a process that seals, and takes the rotation from step to step; a proxy only opens. */
  readonly sealing?: {
    readonly database: TrackedDatabase
    /** Sealing anew is for one process at a time. */
    readonly lease: Lease
  }
  readonly keyring: Keyring
  readonly keeper: KeeperTools
  readonly holding: KeyHolding
  readonly logger: Logger
}

/** Takes up a new key as the service runs, and what rotation there is. */
export interface KeyRotating {
  close(): Promise<void>
}

/**
 * Begins. INVARIANT: nothing was sealed before, and this process has said what it holds. Throws
 * `service/master-key-invalid` where the folder lacks the key that is sealed with.
 */
export async function followKeyRotation(tools: KeyRotationTools): Promise<KeyRotating> {
  const { database, sealing, holding, keyring, logger } = tools
  const closing = new AbortController()
  const seen = {
    next: undefined as string | undefined,
    unopened: undefined as string | undefined,
    doneAt: undefined as number | undefined,
    told: '',
  }

  /** Says what holds it up, once. */
  const tell = (what: string, facts: object = {}) => {
    const text = `${what} ${JSON.stringify(facts)}`
    if (seen.told !== text) logger.error(what, { ...facts })
    seen.told = text
  }

  async function learn(): Promise<string | undefined> {
    seen.unopened = undefined
    if (!existsSync(join(tools.dataDir, NEXT_KEY_FILE))) return undefined
    try {
      const next = await openNextKey(tools.dataDir, tools.keeper)
      return next && keyring.add(next)
    } catch (error) {
      // Others are to know that this process lacks it: it says what it holds all the same.
      seen.unopened = String(error)
      return undefined
    }
  }

  async function turn(isStart = false): Promise<void> {
    if (seen.next === undefined || !existsSync(join(tools.dataDir, NEXT_KEY_FILE))) seen.next = await learn()
    const { next } = seen
    const found = await database.read(readKeyRotation)
    const isOver = found === undefined || found.step === 'done'
    if (sealing && isOver && next !== undefined && next !== found?.to && next !== keyring.sealsWith()) {
      const rotation = beginning(keyring.sealsWith(), next)
      await sealing.database.write((tx) => stepKeyRotation(tx, found, rotation))
      logger.info('the master key is being changed', { from: rotation.from, to: rotation.to })
      return turn(isStart)
    }
    const reason = seen.unopened === undefined ? {} : { reason: seen.unopened }
    if (isOver && seen.unopened !== undefined) tell('the new master key is not opened', reason)
    if (found === undefined) return
    // Forgotten by now, or never there: nothing is to be said anew.
    const isUnderWay = !isOver || keyring.names().length > 1
    if (isUnderWay) await holding.say()
    if (!keyring.has(found.to)) {
      if (isStart && found.step !== 'announced') throw keyMissing(tools.dataDir, found)
      tell('the master key is being changed, and this folder lacks the new one', {
        file: NEXT_KEY_FILE,
        key: found.to,
        ...reason,
      })
      return
    }
    if (!isOver && next !== undefined && next !== found.to)
      tell('another change of the master key is under way, with another key', { file: NEXT_KEY_FILE, key: found.to })
    if (found.step !== 'announced') keyring.sealWith(found.to)
    // Nobody is answered yet, and nothing is sealed.
    if (isStart) return sealing ? holding.say(keyring.sealsWith()) : undefined
    if (found.step === 'done') await finish(found)
    else if (sealing && found.step === 'resealing') await reseal(sealing)
    else if (sealing) await take(found, sealing.database)
  }

  /** Says that this process has taken a step, and goes on to the next once all have. */
  async function take(rotation: KeyRotation, database: TrackedDatabase): Promise<void> {
    const { step, to } = rotation
    if (step === 'used') {
      // What was sealed with the old key, and is not yet written.
      await database.settled()
      await holding.say(to)
    }
    if (step === 'announced' && Date.now() - rotation.since < ANNOUNCED_MS) return
    if (await isWaiting(rotation)) return
    const next = { ...rotation, step: step === 'announced' ? ('used' as const) : ('resealing' as const) }
    await database.write((tx) => stepKeyRotation(tx, rotation, { ...next, since: Date.now() }))
    return turn()
  }

  /** Whether a process that is there has not taken a step, and says so when that has lasted. */
  async function isWaiting(rotation: KeyRotation): Promise<boolean> {
    const late = await database.read(async (tx) => {
      const places = (await listKeyHolders(tx)).filter((each) => isLate(each, rotation)).map(nameOfHolder)
      return (await countSilentServices(tx)) > 0 ? [...places, 'a service of an earlier version'] : places
    })
    if (late.length > 0 && Date.now() - rotation.since > PATIENCE_MS)
      tell('the change of the master key waits for a process', { processes: late.join(', '), key: rotation.to })
    return late.length > 0
  }

  async function reseal({ lease }: NonNullable<typeof sealing>): Promise<void> {
    if (!database.isShared) await lease.database.write(overwriteFreed)
    let rows: number = ROWS.first
    let isUnderWay = true
    const some = async () => {
      const begun = performance.now()
      const now = await lease.database.read(readKeyRotation)
      isUnderWay = now?.step === 'resealing'
      if (!now || !isUnderWay) return begun
      const limit = rows
      const at = { after: now.after ?? undefined, limit }
      const done = await resealSome(
        { database: lease.database, keyring },
        SEALED_COLUMNS[now.column]!,
        at,
        async (tx, done) => {
          await writeKeyRotation(tx, after(now, done))
        },
      )
      for (const place of done.broken) logger.error('a sealed value opens under no master key', { place })
      const tookMs = performance.now() - begun
      rows = tookMs > ROWS.withinMs ? Math.max(1, rows >> 1) : Math.min(ROWS.most, rows * 2)
      return begun
    }
    while (isUnderWay && !closing.signal.aborted) {
      const begun = await lease.run(some)
      if (begun === 'elsewhere') return
      // Half of the time is the requests'.
      await pause(performance.now() - begun)
    }
    if (!closing.signal.aborted) return turn()
  }

  async function finish(rotation: KeyRotation): Promise<void> {
    const { to, from, values, resealedInAll, broken } = rotation
    const text = seen.next === to ? readPrivate(join(tools.dataDir, NEXT_KEY_FILE)) : undefined
    if (!keyring.has(from) && (text === undefined || !sealing)) return
    seen.doneAt ??= performance.now()
    // The file is first of all the service's to put in place: a proxy has a folder of its own, or it has done so by then.
    if (performance.now() - seen.doneAt < (sealing ? KEPT_MS : 2 * KEPT_MS)) return
    if (await isWaiting(rotation)) return
    if (text !== undefined) putInPlace(text)
    keyring.forgetOthers()
    await holding.say()
    Object.assign(seen, { next: undefined, doneAt: undefined, told: '' })
    logger.info('the master key was changed', { key: to, values, resealed: resealedInAll, underTheOldKey: 0, broken })
  }

  function putInPlace(text: string): void {
    try {
      writePrivate(join(tools.dataDir, MASTER_KEY_FILE), text)
      rmSync(join(tools.dataDir, NEXT_KEY_FILE), { force: true })
    } catch (error) {
      if (sealing) throw error
      // Of a folder that a proxy may only read: both files together open everything at its next start.
      tell('the new master key is not put into the place of the old one', { reason: String(error) })
    }
  }

  const pause = (ms: number) => delay(ms, undefined, { signal: closing.signal }).catch(() => {})
  await turn(true)
  const running = (async () => {
    while (!closing.signal.aborted) {
      await pause(LOOK_MS)
      if (closing.signal.aborted) return
      await turn().catch((error: unknown) => tell('the change of the master key waits', { reason: String(error) }))
    }
  })()
  return {
    async close() {
      closing.abort()
      await running
    },
  }
}

/** Whether a process has not taken the step that a rotation is at. */
export function isLate({ opens, seals }: KeyHolder, { step, to }: Pick<KeyRotation, 'step' | 'to'>): boolean {
  return !opens.includes(to) || (step === 'used' && seals !== undefined && seals !== to)
}

function nameOfHolder({ kind, place }: KeyHolder): string {
  return `${kind} on ${place}`
}

function beginning(from: string, to: string): KeyRotation {
  const counts = { values: 0, resealed: 0, broken: 0, resealedInAll: 0 }
  return { from, to, step: 'announced', since: Date.now(), pass: 1, column: 0, after: null, ...counts }
}

function keyMissing(dataDir: string, { to }: KeyRotation): ServiceError {
  return new ServiceError(
    'service/master-key-invalid',
    `what the database keeps is sealed under a new master key, which is not in \`${dataDir}\``,
    {
      facts: { folder: dataDir, key: to, written: 'nothing' },
      next: 'copy `master.key`, and `master.key.next` where it is there, from the folder of another process on the same database',
    },
  )
}

/** How far it is after some rows: a pass that has sealed nothing anew is the last. */
function after(now: KeyRotation, done: Resealed): KeyRotation {
  const counted = {
    ...now,
    after: done.after ?? null,
    values: now.values + done.values,
    resealed: now.resealed + done.resealed,
    resealedInAll: now.resealedInAll + done.resealed,
    broken: now.broken + done.broken.length,
  }
  if (done.after !== undefined) return counted
  if (now.column + 1 < SEALED_COLUMNS.length) return { ...counted, column: now.column + 1 }
  if (counted.resealed === 0 && now.pass > 1) return { ...counted, step: 'done', since: Date.now() }
  return { ...counted, pass: now.pass + 1, column: 0, values: 0, resealed: 0, broken: 0 }
}
