import type { QueryClient } from '../src/client/index.ts'
import { readInside } from '../src/live/index.ts'
import { isStandIn, kindsOf, makerOf, type Plan, settle } from '../src/plan/index.ts'
import { formatAddress } from '../src/resources/index.ts'
import type { ActivityDependencies } from './dependencies.ts'
import { ApplyError } from './error.ts'
import { assertUnguarded } from './guarded.ts'
import type { ApplyNews, InsideOutline, InsideProgress, OpenedInside } from './model.ts'
import { type RunOfPlan, tokenInside } from './run-ledger.ts'

/**
 * Everything that the workflow that begins the applies inside an organization may ask. Each checks by itself that it may: the
 * run by its token, the plans by the digests that the organization's own plan covers, what is made by what the plan store holds
 * of that plan's run. An apply that is let in then checks each of its own steps.
 */
export interface InsideActivities {
  /** Reads what is begun, and after what. */
  loadInside(input: RunOfPlan & { readonly organizationId: string }): Promise<InsideOutline>
  /** Lets the apply of a sub-organization in: its plan, with ids for stand-ins where it has just been made. */
  openInside(input: InsideStep): Promise<OpenedInside>
  /** Its workflow has begun and holds the lock of the sub-organization: what was let in there before is over. */
  keepInside(input: InsideStep): Promise<void>
  /** Another apply holds the lock: this one is over. */
  dropInside(input: InsideStep): Promise<void>
  /** Reads how the organization's own apply and those inside have ended, for when nobody told it. */
  lookInside(input: RunOfPlan): Promise<readonly ApplyNews[]>
  /** The run is over, and this came of it. */
  endInside(input: RunOfPlan & { readonly progress: InsideProgress }): Promise<void>
}

interface InsideStep extends RunOfPlan {
  /** The place of the sub-organization in what `loadInside` gave. */
  readonly index: number
}

export function createInsideActivities(deps: ActivityDependencies): InsideActivities {
  const { planStore, logger } = deps
  const { runs } = planStore

  const open = async (run: RunOfPlan) => {
    const plan = await planStore.getPlan(run.planDigest)
    await runs.assertInside(run)
    return { plan, inside: await planStore.getInside(plan) }
  }
  const openOne = async ({ index, ...run }: InsideStep) => {
    const { plan, inside } = await open(run)
    const planned = inside[index]
    if (!planned) throw new ApplyError('apply/plan-edited', `the plan has nothing inside at ${index}`)
    return { plan, planned, token: tokenInside(run.run, index) }
  }
  /** The apply that was let in for this place. */
  const opened = async (step: InsideStep): Promise<OpenedInside & { readonly isOver: boolean }> => {
    const { token } = await openOne(step)
    const found = await runs.find(token)
    if (!found) throw new ApplyError('apply/run-refused', 'nothing was let in for this sub-organization')
    const { organization, commit } = await planStore.getPlan(found.planDigest)
    return { ...found, organizationId: organization.id, run: token, ...(commit === undefined ? {} : { commit }) }
  }

  return {
    async loadInside({ organizationId, ...run }) {
      const end = await runs.endOf(run)
      if (end !== undefined) return { isOwnFirst: false, organizations: [], ended: JSON.parse(end) as InsideProgress }
      const { plan, inside } = await open(run)
      if (plan.organization.id !== organizationId) {
        throw new ApplyError('apply/other-organization', 'the plan was made for another organization', {
          facts: { 'of the plan': plan.organization.id, 'asked for': organizationId },
        })
      }
      const organizations = inside.map((one) => {
        const { name } = one.organization
        const madeBy = makerOf(plan, one)?.index
        return { name, ...(madeBy === undefined ? {} : { madeBy }) }
      })
      return { isOwnFirst: plan.batches.length > 0, organizations }
    },

    async openInside(step) {
      const { plan, planned, token } = await openOne(step)
      // INVARIANT: a place is opened once, so that a step that is done again begins the same apply.
      if (await runs.find(token)) return opened(step)
      assertUnguarded(planned)
      const one = isStandIn(planned.organization.id) ? await settled(plan, planned) : planned
      await planStore.putPlan(one)
      await runs.open(one.digest, token)
      logger.info('an apply inside was let in', { organization: one.organization.name, planDigest: one.digest })
      const { isOver: _, ...found } = await opened(step)
      return found
    },

    async keepInside(step) {
      const { organizationId, run } = await opened(step)
      await planStore.endRuns(organizationId, { except: [run] })
    },

    async dropInside(step) {
      await runs.end(await opened(step))
    },

    async lookInside(run) {
      const { plan, inside } = await open(run)
      const news: ApplyNews[] = []
      if (await runs.isOver(plan.digest)) {
        const own = await planStore.getOutcome(plan)
        const made = own?.batches.flatMap(({ state, index }) => (state === 'completed' ? [index] : [])) ?? []
        const hasDone = made.length > 0
        news.push({ planDigest: plan.digest, state: own?.state ?? 'failed', made, hasDone })
      }
      for (const index of inside.keys()) {
        const found = await runs.find(tokenInside(run.run, index))
        if (!found?.isOver) continue
        const outcome = await planStore.getOutcome(await planStore.getPlan(found.planDigest))
        news.push({ planDigest: found.planDigest, state: outcome?.state ?? 'failed', made: [], hasDone: false })
      }
      return news
    },

    async endInside({ progress, ...run }) {
      await runs.assertInside(run)
      await runs.end(run, JSON.stringify(progress))
    },
  }

  /** The plan of one that the organization's own plan has made, with the ids that live. */
  async function settled(plan: Plan, planned: Plan): Promise<Plan> {
    const maker = makerOf(plan, planned)
    const produced = maker && (await runs.producedOf(plan.digest, maker.index))
    const id = produced?.[addressOf(planned)]
    if (id === undefined) {
      const { name } = planned.organization
      throw new ApplyError('apply/batch-early', `sub-organization \`${name}\` is not made yet, by what the API said`)
    }
    return settle(planned, await readAsPlanned(await deps.clientFor(plan.organization), planned, id))
  }
}

function addressOf({ organization }: Plan): string {
  return formatAddress('subOrganization', organization.name)
}

/** What is inside, as far as its plan leans on it. */
export function readAsPlanned(client: QueryClient, plan: Plan, id: string) {
  const { publicKey } = plan.actor
  const { name } = plan.organization
  return readInside(client, { id, name }, { publicKey, reader: plan.actor, mentioned: kindsOf(plan), sparing: true })
}
