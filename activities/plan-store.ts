import { join } from 'node:path'
import { sha256 } from '../src/crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../src/encoding/index.ts'
import { digestInside, digestOf, type Plan, plansInside, withoutInside } from '../src/plan/index.ts'
import { type CompromisedLedger, createCompromisedLedger } from './compromised-ledger.ts'
import { ApplyError } from './error.ts'
import type { ApplyProgress } from './model.ts'
import { createPushLedger, type PushLedger } from './pushes.ts'
import { createRecords } from './records.ts'
import { createRotationLedger, type RotationLedger } from './rotation-ledger.ts'
import { createRunLedger, type RunLedger } from './run-ledger.ts'
import { createSendBatchLedger, type SendBatchLedger } from './send-batch-ledger.ts'
import { createSendLedger, type SendLedger } from './send-ledger.ts'
import { fileNameOf } from './store-files.ts'
import { openStoreFiles } from './store-opened.ts'
import { createVerifiedPlans } from './verified-plans.ts'
import { createWatchLedger, type WatchLedger } from './watch-ledger.ts'

/**
 * The plan store: it keeps plans, request bodies and ledgers for the machine that plans and the workers that apply, since workflows carry
 * digests alone. Plans and bodies are written once, under the digest of their contents; all else are records. It holds no secret, but it
 * says who may move funds, so only its owner may read it.
 */
export interface PlanStore {
  putPlan(plan: Plan): Promise<void>
  /**
   * Throws `apply/plan-missing`, or `apply/plan-edited` when its contents do not have this digest. Asked again, it gives the
   * same object as long as the file is unwritten.
   */
  getPlan(digest: string): Promise<Plan>
  /** The plans that were stored last, newest first, each with whether it is being carried out; broken files are left out. */
  recentPlans(most: number): Promise<readonly KeptPlan[]>
  /** The plans of sub-organizations that a plan has, each covered by its digest in that plan. Throws as `getPlan` does. */
  getInside(plan: Plan): Promise<readonly Plan[]>
  /** Stores a request body for ever and returns its fingerprint (docs/protocol/activities.md#fingerprint). */
  putBody(body: string): Promise<string>
  /** Throws `apply/body-missing`. */
  getBody(fingerprint: string): Promise<string>
  /** Records which run applies a plan, and returns the first run that did: this one, unless the plan was applied before. */
  spend(digest: string, run: string): Promise<string>
  /** The first run that applied a plan; undefined for one that was not begun. */
  spentBy(digest: string): Promise<string | undefined>
  /** Records the outcome of a plan; a later run of the same plan replaces it. */
  putOutcome(plan: PlanDocument, outcome: ApplyProgress): Promise<void>
  getOutcome(plan: PlanDocument): Promise<ApplyProgress | undefined>
  /** Ends the runs that were let in for plans of an organization: each further step of theirs is refused. */
  endRuns(organizationId: string, options?: { readonly except?: readonly string[] }): Promise<void>
  /** Which run may carry out a plan, and what it has done. */
  readonly runs: RunLedger
  /** The sends by their references. */
  readonly sends: SendLedger
  /** Sends that were begun together. */
  readonly batches: SendBatchLedger
  /** The organizations that are watched. */
  readonly watches: WatchLedger
  /** Definitions that pipelines have pushed. */
  readonly pushes: PushLedger
  /** Rotations of keys. */
  readonly rotations: RotationLedger
  /** Keys that incidents have marked, where machines share the store. */
  readonly compromised: CompromisedLedger
}

export interface KeptPlan {
  readonly plan: Plan
  readonly isOpen: boolean
}

/**
 * What identifies a plan: its digest and its time. If an organization returns to an earlier state, a plan that is made then may have the same digest as an earlier one.
 * It is another plan all the same, which is spent by itself.
 */
export type PlanDocument = Pick<Plan, 'digest' | 'createdAt'>

/**
 * Creates a plan store of a folder, which it makes for its owner alone (0700, files 0600), or opens the one that `<folder>.place` names, on
 * a server or in a bucket. Records are believed only with a mark by the key in `<folder>.key`, beside it.
 */
export function createPlanStore(folder: string): PlanStore {
  const at = (shelf: string, digest: string) => join(folder, shelf, fileNameOf(digest))
  const verified = createVerifiedPlans()
  const files = openStoreFiles(folder)
  const { read, write, versionOf, listNewest } = files
  const records = createRecords(folder, files)
  const sends = createSendLedger(folder, records)
  const runs = createRunLedger(folder, records)

  const store: PlanStore = {
    async putPlan(plan) {
      const digest = digestOf(plan)
      if (digest !== plan.digest) throw edited(plan.digest, digest)
      // The plan of a sub-organization is carried out by itself, under a digest of its own.
      const { insideDigest, subOrganizations: inside = [] } = plan
      if (insideDigest !== undefined) {
        const applied = plansInside(plan)
        for (const one of applied) await store.putPlan(one)
        const rows = inside.map((one): InsideRow => ({ digest: one.digest, isApplied: applied.includes(one) }))
        if (digestInside(rows) !== insideDigest) throw edited(insideDigest, digestInside(rows))
        await records.write(at('insides', digest), JSON.stringify(rows))
      }
      await write(at('plans', digest), JSON.stringify(withoutInside(plan)))
    },

    async getPlan(digest) {
      const path = at('plans', digest)
      // Taken before the file is read: what is written meanwhile makes it another version than the one that is kept.
      const version = await versionOf(path)
      const known = verified.find(digest, version)
      if (known) return known
      const text = await read(path)
      if (text === undefined) {
        throw new ApplyError('apply/plan-missing', `the plan store has no plan \`${digest}\``, { facts: { folder } })
      }
      const plan = parsePlan(text, digest)
      const actual = digestOf(plan)
      if (actual !== digest) throw edited(digest, actual)
      verified.keep(plan, version)
      return plan
    },

    async getInside({ digest, insideDigest }) {
      if (insideDigest === undefined) return []
      const text = await records.read(at('insides', digest))
      const rows = text === undefined ? [] : (JSON.parse(text) as readonly InsideRow[])
      const actual = digestInside(rows)
      if (actual !== insideDigest) throw edited(insideDigest, actual)
      const plans: Plan[] = []
      for (const { digest: one, isApplied } of rows) if (isApplied) plans.push(await store.getPlan(one))
      return plans
    },

    async putBody(body) {
      const fingerprint = fingerprintOf(body)
      await write(at('bodies', fingerprint), body)
      return fingerprint
    },

    async getBody(fingerprint) {
      const body = await read(at('bodies', fingerprint))
      if (body === undefined || fingerprintOf(body) !== fingerprint) {
        const what = body === undefined ? 'has no body' : 'has a damaged body'
        throw new ApplyError('apply/body-missing', `the plan store ${what} \`${fingerprint}\``, { facts: { folder } })
      }
      return body
    },

    async recentPlans(most) {
      const newest = await listNewest(join(folder, 'plans'), most)
      const plans = await Promise.all(newest.map((digest) => store.getPlan(digest).catch(() => undefined)))
      const open = new Set((await runs.listOpen()).map(({ planDigest }) => planDigest))
      return plans.flatMap((plan) => (plan ? [{ plan, isOpen: open.has(plan.digest) }] : []))
    },

    async spend(digest, run) {
      const path = at('spent', digest)
      await records.claim(path, run)
      return (await records.read(path)) ?? run
    },

    spentBy: (digest) => records.read(at('spent', digest)),

    async putOutcome(plan, outcome) {
      await records.write(at('outcomes', documentDigest(plan)), JSON.stringify(outcome))
    },

    async getOutcome(plan) {
      const text = await records.read(at('outcomes', documentDigest(plan)))
      return text === undefined ? undefined : (JSON.parse(text) as ApplyProgress)
    },

    async endRuns(organizationId, { except } = {}) {
      for (const { planDigest, end } of await runs.listOpen(except)) {
        // A run whose plan is missing cannot do a step.
        const plan = await store.getPlan(planDigest).catch(() => undefined)
        if (plan?.organization.id === organizationId) await end()
      }
    },

    runs,
    sends,
    batches: createSendBatchLedger(folder, records, sends),
    watches: createWatchLedger(folder, records, files),
    pushes: createPushLedger(folder, files),
    rotations: createRotationLedger(folder, records),
    compromised: createCompromisedLedger(folder, records),
  }
  return store
}

/** The plan of a sub-organization. One that has nothing to carry out (`isApplied` is false) is not stored. */
interface InsideRow {
  readonly digest: string
  readonly isApplied: boolean
}

/** `sha256:` and the lower-case hex SHA-256 of the raw body (docs/protocol/activities.md#fingerprint). */
export function fingerprintOf(body: string): string {
  return `sha256:${encodeHex(sha256(encodeUtf8(body)))}`
}

function documentDigest({ digest, createdAt }: PlanDocument): string {
  return fingerprintOf(`${digest} ${createdAt}`)
}

function parsePlan(text: string, digest: string): Plan {
  try {
    return JSON.parse(text) as Plan
  } catch {
    throw edited(digest, 'not JSON')
  }
}

function edited(digest: string, actual: string): ApplyError {
  return new ApplyError('apply/plan-edited', 'the plan is not what its digest says', {
    facts: { 'digest in the plan': digest, 'digest of its contents': actual },
  })
}
