/** What must hold of any plan before anything of it is submitted: in the organization and in what is inside it. */
import { EXIT, findKeyMaterial, placeInWords, QuorateError } from '../diagnostics/index.ts'
import { AFTER_REJECTION, appliedPlans, guardsThatStop, type Plan, rejectionText } from '../plan/index.ts'

/** Throws the first reason why a plan is not carried out. */
export function assertApplicable(plan: Plan, { isSaved = false, isShown = false } = {}): void {
  assertNoKeysSubmitted(plan)
  assertAllowed(plan, { isSaved, isShown })
  assertNotRejected(plan)
  assertPermitted(plan)
}

/**
 * Throws `cli/refused` when a guard stops the plan that no bypass lets pass. One that was saved stays refused. Where the plan was
 * just shown, what each guard says stands there, and is not said twice.
 */
export function assertAllowed(plan: Plan, { isSaved = false, isShown = false } = {}): void {
  const stopped = appliedPlans(plan).flatMap((one) =>
    guardsThatStop(one).map((guard) => ({ ...guard, where: whereIn(plan, one) })),
  )
  if (stopped.length === 0) return
  const bypasses = [...new Set(stopped.map(({ bypass }) => bypass))].join(' ')
  const said = stopped.map(({ message, where }) => `${where}${message}`)
  // Of several each has a line of its own.
  const each =
    said.length === 1 || isShown ? {} : Object.fromEntries(said.map((text, index) => [`guard ${index + 1}`, text]))
  const refusal = said.length === 1 ? 'a guard refuses this plan' : `${said.length} guards refuse this plan`
  const why = said.length === 1 ? said[0]! : refusal
  throw new QuorateError('cli/refused', isShown ? `${refusal}, as it says above` : why, {
    facts: { guards: [...new Set(stopped.map(({ name }) => name))].join(', '), ...each, submitted: 'nothing' },
    next: isSaved
      ? `a saved plan stays refused: change the definitions, or plan again with ${bypasses}, and apply that`
      : `change the definitions, or let it pass with ${bypasses}`,
    exit: EXIT.refused,
  })
}

/** Throws `cli/rejected` when an activity of equal intent was rejected: nobody is asked the same again by a machine. */
export function assertNotRejected(plan: Plan): void {
  for (const one of appliedPlans(plan)) {
    for (const { forecast, summary, type } of one.batches) {
      if (forecast?.outcome !== 'rejected') continue
      throw new QuorateError('cli/rejected', `${whereIn(plan, one)}${summary} was ${rejectionText(forecast)}`, {
        facts: { activity: `${type} ${forecast.activityId}`, submitted: 'nothing' },
        next: AFTER_REJECTION,
        exit: EXIT.refused,
      })
    }
  }
}

/** Throws `cli/key-in-plan` when an activity would carry a key: every reader of the organization would have it. */
export function assertNoKeysSubmitted(plan: Plan): void {
  for (const one of appliedPlans(plan)) {
    for (const { parameters, summary, type } of one.batches) {
      const text = JSON.stringify(parameters, null, 1)
      const found = findKeyMaterial(text)
      if (!found) continue
      throw new QuorateError('cli/key-in-plan', `${whereIn(plan, one)}${summary} would hold ${found.name}; not shown`, {
        facts: { activity: type, at: placeInWords(text, found), submitted: 'nothing' },
        next: 'take it out of the definitions or the values given to them, and make a new key in its place',
        exit: EXIT.refused,
      })
    }
  }
}

/** Throws `cli/denied` when an activity of the plan would be refused: better nothing than half. */
function assertPermitted(plan: Plan): void {
  for (const one of appliedPlans(plan)) {
    const denied = one.batches.filter(({ forecast }) => forecast?.outcome === 'denied')
    const [first] = denied
    if (first?.forecast?.outcome !== 'denied') continue
    const {
      reason,
      address,
      next = 'apply with the key of somebody who may, or add a policy that allows it',
    } = first.forecast
    const what = address === undefined ? `${one.actor.userName} may not` : 'the API would refuse to'
    const at = one.changes.find((change) => change.address === address && change.batch === first.index)?.at
    throw new QuorateError('cli/denied', `${whereIn(plan, one)}${what} ${first.summary}: ${reason}`, {
      facts: {
        activity: first.type,
        ...(address === undefined ? {} : { from: at === undefined ? address : `${address}, ${at}` }),
        denied: `${denied.length} of ${one.batches.length}`,
        submitted: 'nothing',
      },
      next,
      exit: EXIT.refused,
    })
  }
}

/** Messages about a sub-organization begin with its name. */
function whereIn(plan: Plan, one: Plan): string {
  return one === plan ? '' : `in ${one.organization.name}: `
}
