/**
 * A new user needs a way in, or the API refuses to make them, and all other users of the same activity: a credential,
 * or a contact whose login feature is set by then (docs/protocol/organizations.md#ways-in).
 */
import type { Batch, Forecast, Plan } from '../plan/index.ts'
import { refusals } from '../protocol/index.ts'
import { kinds, loginFeaturesOf, type Resource } from '../resources/index.ts'
import { type OrganizationState, thingsOf } from './state.ts'

type Denied = Extract<Forecast, { readonly outcome: 'denied' }>

/** Says of each batch of a plan, and the state that it would leave, which of its new users keeps it from being taken. */
export function createDoorkeeper(
  plan: Plan,
): (batch: Pick<Batch, 'index'>, after: OrganizationState) => Denied | undefined {
  const newcomers = Map.groupBy(
    plan.changes.filter(({ kind, action }) => kind === 'user' && action === 'create'),
    ({ batch }) => batch,
  )
  return ({ index }, after) => {
    const made = new Set(newcomers.get(index)?.map(({ address }) => address))
    if (made.size === 0) return undefined
    const on = new Set(thingsOf(after, 'feature').map(({ name }) => name))
    const owners = new Set(after.things.flatMap(({ kind, parentId }) => (kinds[kind].credential ? parentId : [])))
    const isLockedOut = ({ id, fields }: Resource) =>
      !owners.has(id) && !loginFeaturesOf(fields).some((name) => on.has(name))
    const user = thingsOf(after, 'user').find((one) => made.has(one.address) && isLockedOut(one))
    return user && denied(user)
  }
}

function denied({ address, name, fields }: Resource): Denied {
  const features = loginFeaturesOf(fields).map((feature) => `\`${feature}\``)
  const login = features.length === 0 ? 'no contact to log in by' : `no login by ${features.join(' or ')}`
  const set = features.length === 0 ? '' : `, or set ${features.join(' or ')} under \`features\``
  return {
    outcome: 'denied',
    reason: `\`${refusals.userWithoutCredential.message(name)}\`: there is no API key, no passkey and ${login}`,
    address,
    next: `give \`${address}\` an API key or a passkey${set}`,
  }
}
