/** Who there is in the states of one analysis. Most changes leave everybody as they are: states with the same people share what is read of them. */
import { type Organization, votersOf } from '../authority/index.ts'
import type { Voter } from '../policy/index.ts'
import { organizationOf, type Resource, saysWhoThereIs } from '../resources/index.ts'
import type { OrganizationState } from './state.ts'

const organizations = new WeakMap<Resource, { readonly of: readonly Resource[]; readonly organization: Organization }>()

/** Everybody in a state; the same object for states that have the same users, credentials and quorum. */
export function organizationIn({ things }: OrganizationState): Organization {
  const of = things.filter(saysWhoThereIs)
  const first = of[0]
  const known = first && organizations.get(first)
  if (known && known.of.length === of.length && known.of.every((one, at) => one === of[at])) return known.organization
  const organization = organizationOf(of)
  if (first) organizations.set(first, { of, organization })
  return organization
}

const voters = new WeakMap<Organization, { readonly nowMs: number; readonly people: readonly Voter[] }>()

/** Who of them could approve at a moment (`votersOf`), listed once. */
export function votersIn(organization: Organization, nowMs: number): readonly Voter[] {
  const known = voters.get(organization)
  if (known?.nowMs === nowMs) return known.people
  const people = votersOf(organization, nowMs)
  voters.set(organization, { nowMs, people })
  return people
}
