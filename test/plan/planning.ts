/** Plans in one line, with what a test does not care about filled in. */
import { makePlan, type Plan, type PlanInput } from '../../src/plan/index.ts'
import type { Actual, Address, Desired, Resource } from '../../src/resources/index.ts'
import { actualOf, bootstrap, desiredOf } from './organization.ts'

export const NOW = '2026-01-02T03:04:05.000Z'

export interface Given {
  readonly desired?: readonly Resource[]
  readonly manageAll?: Parameters<typeof desiredOf>[1]
  readonly deleteLimits?: Desired['deleteLimits']
  readonly actual?: readonly Resource[] | Actual
  readonly lock?: PlanInput['lock']
  readonly lockPlaces?: PlanInput['lockPlaces']
  readonly forget?: readonly Address[]
  readonly creators?: PlanInput['creators']
  readonly allow?: Iterable<string>
  readonly targets?: readonly Address[]
}

export function planInput(given: Given): PlanInput {
  const { desired = [], manageAll = [], deleteLimits = {}, actual = bootstrap() } = given
  const { lock = {}, creators = {}, allow = [], forget = [], lockPlaces, targets } = given
  return {
    desired: { ...desiredOf(desired, manageAll), deleteLimits, ...(forget.length > 0 ? { forget } : {}) },
    actual: 'resources' in actual ? actual : actualOf(actual),
    lock,
    ...(lockPlaces ? { lockPlaces } : {}),
    ...(targets ? { targets } : {}),
    creators,
    allow,
    baseUrl: 'http://127.0.0.1:1',
    now: NOW,
  }
}

/** Plans, and expects no diagnostics but what may be a rename. */
export function planOf(given: Given): Plan {
  const made = makePlan(planInput(given))
  const { plan } = made
  const diagnostics = made.diagnostics.filter(({ code }) => code !== 'plan/perhaps-renamed')
  if (diagnostics.length > 0) throw new Error(diagnostics.map(({ code, message }) => `${code}: ${message}`).join('\n'))
  return plan
}

/** Rows as `create tag.x`, in their order. */
export function rows({ changes }: Plan): readonly string[] {
  return changes.map(({ action, address }) => `${action} ${address}`)
}

/** Batches as `TYPE: address, address`. */
export function steps({ batches }: Plan): readonly string[] {
  return batches.map(({ type, changes }) => `${type.replace('ACTIVITY_TYPE_', '')}: ${changes.join(', ')}`)
}
