/**
 * The ledger of runs: which run may carry out a plan, and what it has done. It is kept in the plan store, so that no step has to believe a
 * workflow.
 *
 * `quorate apply` lets a run in and makes its token. The run may begin once the organization was found to be as the plan was made for. It
 * is over when it says so, or when a later run of the same plan begins. The run that begins the applies of sub-organizations has a token
 * of its own, which opens no batch. For each batch the ledger keeps which bytes were made, which activity they became, and which ids that
 * activity gave. An attacker who starts, resets or forges a workflow has none of this: a token that nobody let in, whose run is over, or
 * that belongs to another plan opens nothing.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { sha256 } from '../src/crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../src/encoding/index.ts'
import { ApplyError } from './error.ts'
import type { Ids } from './model.ts'
import type { Records } from './records.ts'
import { fileNameOf } from './store-files.ts'

/** A run and the plan that it was let in for. */
export interface RunOfPlan {
  readonly planDigest: string
  /** The token of the run. */
  readonly run: string
}

export interface RunLedger {
  /** Lets one run carry out a plan, and returns its token. @param token then opens this plan alone. @default a new one */
  open(planDigest: string, token?: string): Promise<string>
  /**
   * Lets a run begin the applies of the sub-organizations of a plan, and returns its token: that which goes with the token of the run
   * that carries the plan out, if there is one. Neither token opens what the other opens.
   */
  openInside(planDigest: string, run?: string): Promise<string>
  /** Throws `apply/run-refused` unless the run was let in by `openInside`, and is not over. */
  assertInside(run: RunOfPlan): Promise<void>
  /** The plan that a token was let in for, and whether its run is over; undefined for none. */
  find(token: string): Promise<{ readonly planDigest: string; readonly isOver: boolean } | undefined>
  /** Whether the run that carried a plan out last is over. */
  isOver(planDigest: string): Promise<boolean>
  /** The ids that a batch brought in the run that carries a plan out, or in the one before it; undefined unless it is done. */
  producedOf(planDigest: string, index: number): Promise<Ids | undefined>
  /** Throws `apply/run-refused` unless the run was let in for this plan and is not over. */
  assertOpen(run: RunOfPlan): Promise<void>
  /** Records that the organization was found to be as the plan was made for. */
  setFresh(run: RunOfPlan): Promise<void>
  /** Makes this the run that carries the plan out, instead of one before it; gives its name. Throws `apply/run-refused`. */
  begin(run: RunOfPlan): Promise<string>
  /** The records of a batch. Throws `apply/run-refused` unless this is the run that carries the plan out. */
  batch(run: RunOfPlan, index: number): Promise<BatchRecords>
  /** Ends the run: each further step of it is refused. @param how its result, if no other record has that */
  end(run: RunOfPlan, how?: string): Promise<void>
  /** The `how` that `end` was given; undefined for a run that is not over, or was not let in for this plan. */
  endOf(run: RunOfPlan): Promise<string | undefined>
  /** The runs that were let in and are not over, without those in `except`. */
  listOpen(except?: readonly string[]): Promise<readonly OpenRun[]>
  /** The runs that were let in since the lock was last written. */
  listUnlocked(): Promise<readonly UnlockedRun[]>
}

/** A run whose ids may not be in any lock file yet. */
export interface UnlockedRun {
  readonly planDigest: string
  /** The ids that a batch brought; undefined unless the run saw that it is done. */
  produced(index: number): Promise<Ids | undefined>
  activityId(index: number): Promise<string | undefined>
  /** Records that the lock file has its ids. A run that goes on may make more, and is listed again. */
  settle(): Promise<void>
}

/** A run that is not over: whoever kept the start of its workflow could go on with it. */
export interface OpenRun {
  readonly planDigest: string
  end(): Promise<void>
}

/** The records of one batch in one run. Each is written once: the first value stays. */
export interface BatchRecords {
  /** The body to send: the last that the API has not refused as too old. */
  body(): Promise<string | undefined>
  /** A body that the run before this one made, where nobody knows what became of it: the API may have it. */
  inherited(): Promise<string | undefined>
  /** Enters a body where there is none to send, and returns the one to send. */
  enterBody(fingerprint: string): Promise<string>
  /** Records that the API refused a body for good, and never made an activity of it. */
  refuseBody(fingerprint: string): Promise<void>
  hasBody(fingerprint: string): Promise<boolean>
  activityId(): Promise<string | undefined>
  setActivity(activityId: string): Promise<void>
  /** The ids that the batch brought; undefined unless it is done. */
  produced(): Promise<Ids | undefined>
  setDone(produced: Ids): Promise<void>
}

/** Makes the ledger in the plan store's folder. */
export function createRunLedger(folder: string, records: Records): RunLedger {
  const { claim, list, read, remove, write } = records
  const at = (shelf: string, name: string) => join(folder, shelf, name)
  const has = async (path: string) => (await read(path)) !== undefined

  const assertOpen = async ({ planDigest, run }: RunOfPlan, scope = ''): Promise<string> => {
    const id = nameOfRun(run)
    if (id === undefined || (await read(at('runs', id))) !== `${planDigest}${scope}`) {
      throw refused('no `quorate apply` let this run in for this plan')
    }
    if (await has(at('run-ends', id))) throw refused('this run is over')
    return id
  }
  /** The run that carries a plan out, and the one before it. */
  const current = async (planDigest: string) =>
    (await read(at('run-current', fileNameOf(planDigest))))?.split(' ') ?? []

  const batchRecords = (name: string, before?: string) => createBatchRecords(folder, records, { name, before })

  return {
    async open(planDigest, run = randomBytes(32).toString('hex')) {
      // First, so that nothing is ever made by a run that is not in it.
      await claim(at('run-unlocked', nameOfRun(run)!), planDigest)
      await claim(at('runs', nameOfRun(run)!), planDigest)
      return run
    },
    async openInside(planDigest, run = randomBytes(32).toString('hex')) {
      const token = insideTokenOf(run)
      await claim(at('runs', nameOfRun(token)!), `${planDigest}${INSIDE}`)
      return token
    },
    async assertOpen(run) {
      await assertOpen(run)
    },
    async assertInside(run) {
      await assertOpen(run, INSIDE)
    },
    async find(token) {
      const id = nameOfRun(token)
      const text = id === undefined ? undefined : await read(at('runs', id))
      if (text === undefined) return undefined
      return { planDigest: planOf(text), isOver: await has(at('run-ends', id!)) }
    },
    async isOver(planDigest) {
      const [now] = await current(planDigest)
      return now !== undefined && (await has(at('run-ends', now)))
    },
    async producedOf(planDigest, index) {
      for (const name of await current(planDigest)) {
        const produced = await batchRecords(`${name}-${index}`).produced()
        if (produced !== undefined) return produced
      }
      return undefined
    },
    async setFresh(run) {
      await claim(at('run-fresh', await assertOpen(run)), '')
    },
    async begin(run) {
      const id = await assertOpen(run)
      if (!(await has(at('run-fresh', id)))) throw refused('nobody has looked whether the plan is fresh')
      const [now = ''] = await current(run.planDigest)
      if (now === id) return id
      // INVARIANT: the run before is over first, so that no two ever carry out one plan.
      if (now !== '') await claim(at('run-ends', now), '')
      await write(at('run-current', fileNameOf(run.planDigest)), `${id} ${now}`.trimEnd())
      return id
    },
    async batch(run, index) {
      const id = await assertOpen(run)
      const [now, before] = await current(run.planDigest)
      if (now !== id) throw refused('this run has not begun')
      return batchRecords(`${id}-${index}`, before && `${before}-${index}`)
    },
    async end(run, how = '') {
      const id = nameOfRun(run.run)
      if (id !== undefined && (await has(at('runs', id)))) await claim(at('run-ends', id), how)
    },
    async endOf({ planDigest, run }) {
      const id = nameOfRun(run)
      if (id === undefined || planOf((await read(at('runs', id))) ?? '') !== planDigest) return undefined
      return (await read(at('run-ends', id))) || undefined
    },
    async listUnlocked() {
      const unlocked = await list(join(folder, 'run-unlocked'))
      return Promise.all(
        unlocked.map(async (id): Promise<UnlockedRun> => {
          const records = (index: number) => batchRecords(`${id}-${index}`)
          return {
            planDigest: (await read(at('run-unlocked', id))) ?? '',
            produced: (index) => records(index).produced(),
            activityId: (index) => records(index).activityId(),
            settle: async () => {
              if (await has(at('run-ends', id))) await remove(at('run-unlocked', id))
            },
          }
        }),
      )
    },
    async listOpen(except) {
      const over = new Set([
        ...(await list(join(folder, 'run-ends'))),
        ...(except ?? []).flatMap((one) => nameOfRun(one) ?? []),
      ])
      const open = (await list(join(folder, 'runs'))).filter((id) => !over.has(id))
      const plans = await Promise.all(open.map((id) => read(at('runs', id))))
      return open.map((id, index) => ({
        planDigest: planOf(plans[index] ?? ''),
        end: () => claim(at('run-ends', id), ''),
      }))
    },
  }
}

/** Makes the records of one request under a name of its own; `before` is the name of the one that it goes on from. */
export function createBatchRecords(
  folder: string,
  { claim, read }: Records,
  { name, before }: { readonly name: string; readonly before?: string | undefined },
): BatchRecords {
  const bodyAt = (of: string, attempt: number) => join(folder, 'run-bodies', `${of}-${attempt}`)
  const refusedAt = (of: string, attempt: number) => join(folder, 'run-bodies-refused', `${of}-${attempt}`)
  const activityAt = (of: string) => join(folder, 'run-activities', of)
  const doneAt = join(folder, 'run-batches-done', name)

  /** The first attempt that was not refused, with its body if it has one. */
  const last = async (of: string) => {
    for (let attempt = 0; ; attempt++) {
      const body = await read(bodyAt(of, attempt))
      if (body === undefined || (await read(refusedAt(of, attempt))) === undefined) return { attempt, body }
    }
  }
  const attemptOf = async (fingerprint: string) => {
    for (let attempt = 0; ; attempt++) {
      const body = await read(bodyAt(name, attempt))
      if (body === undefined || body === fingerprint) return body === undefined ? undefined : attempt
    }
  }
  return {
    body: async () => (await last(name)).body,
    async inherited() {
      if (before === undefined || (await read(activityAt(before))) !== undefined) return undefined
      return (await last(before)).body
    },
    async enterBody(fingerprint) {
      const { attempt, body } = await last(name)
      if (body !== undefined) return body
      await claim(bodyAt(name, attempt), fingerprint)
      return (await read(bodyAt(name, attempt))) ?? fingerprint
    },
    async refuseBody(fingerprint) {
      const attempt = await attemptOf(fingerprint)
      if (attempt !== undefined) await claim(refusedAt(name, attempt), '')
    },
    hasBody: async (fingerprint) => (await attemptOf(fingerprint)) !== undefined,
    activityId: () => read(activityAt(name)),
    setActivity: (activityId) => claim(activityAt(name), activityId),
    async produced() {
      const text = await read(doneAt)
      return text === undefined ? undefined : (JSON.parse(text) as Ids)
    },
    setDone: (produced) => claim(doneAt, JSON.stringify(produced)),
  }
}

/** Follows the plan's digest in the record of a run that begins the applies of sub-organizations. */
const INSIDE = ' inside'

const planOf = (text: string) => text.replace(INSIDE, '')

/** The token that begins the applies of sub-organizations, made from that of the run that carries the plan out. */
export function insideTokenOf(run: string): string {
  return encodeHex(sha256(encodeUtf8(`inside ${run}`)))
}

/** The token of the apply of one sub-organization: a step that is done again opens the same one. */
export function tokenInside(run: string, index: number): string {
  return encodeHex(sha256(encodeUtf8(`inside ${index} ${run}`)))
}

/** The name of a run in the plan store: a reader of the store cannot act as the run. */
export function nameOfRun(run: unknown): string | undefined {
  return typeof run === 'string' && run !== '' ? encodeHex(sha256(encodeUtf8(run))) : undefined
}

function refused(why: string): ApplyError {
  return new ApplyError('apply/run-refused', `a workflow asked for a step of a plan, and ${why}`, {
    facts: { submitted: 'nothing by this step' },
  })
}
