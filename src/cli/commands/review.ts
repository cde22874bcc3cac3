import { join } from 'node:path'
import { createPlanStore, type KeptPlan, type PlanStore } from '../../../activities/index.ts'
import type { QueryClient } from '../../client/index.ts'
import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { readActual } from '../../live/index.ts'
import {
  findActivity,
  type Place,
  type ReviewedActivity,
  reader,
  readFactors,
  reviewActivity,
} from '../../operations/index.ts'
import { readPlan } from '../../plan/index.ts'
import type { Wire } from '../../protocol/index.ts'
import type { Actual } from '../../resources/index.ts'
import { factsOfActivity } from '../../scenarios/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { type CommandOrder, orderFor } from '../command-orders.ts'
import { writeJson } from '../io.ts'
import { type ActivityView, asEnded, renderActivity, viewActivity } from '../views/activity.ts'
import { reasonsFor, type VoteReason } from '../vote-reasons.ts'
import { readSendsKnown, type SendsKnown, withSendsKnown } from './sends-known.ts'
import { readText } from './show.ts'

/** How many plans of the data folder are looked through. */
const MOST_PLANS = 100

/** Shows what an activity would change, before and after, and how its votes stand. Votes on nothing: its client has no way to. */
export async function review(input: CommandInput): Promise<ExitCode> {
  const { io, json, args } = input
  const place = await findPlace(input)
  const known = await findKnown(input, place)
  const client = reader(place)
  const activity = await findActivity(client, args[0]!)
  const seen = asEnded(await viewForVoter(activity, { client, place, known, actual: await readActual(client) }))
  if (json) writeJson(io, { activity: seen })
  else io.out(renderActivity(seen, io.style, place.now()))
  sayClock(input, place)
  return EXIT.done
}

/** Says where ages and lapse times are by another clock than the API's, which counts. */
export function sayClock({ io }: Pick<CommandInput, 'io'>, { clock }: Pick<Place, 'clock'>): void {
  if (clock?.isTold() === false)
    io.say('The API does not tell its time: ages, and when approvals lapse, are by the clock of this machine.\n')
}

/** What an activity is held against. */
export interface KnownToVoter {
  /** Those that the voter gives; otherwise those that were applied from the data folder. */
  readonly plans: readonly KeptPlan[]
  /** Of the data folder. */
  readonly rotations: PlanStore['rotations']
  /** Of the voter. */
  readonly sends: SendsKnown
  /** Of votes on an activity, by its id. */
  readonly reasonsFor: (activityId: string) => readonly VoteReason[]
  readonly orderFor: (activityId: string) => CommandOrder | undefined
}

export async function findKnown(input: CommandInput, place: Place): Promise<KnownToVoter> {
  const { options, settings } = input
  const store = createPlanStore(join(settings.dataDir, 'plans'))
  const files = (options['plan'] as readonly string[] | undefined) ?? []
  const given = files.map((file) => ({ plan: readPlan(readText(file)), isOpen: true }))
  return {
    plans: files.length > 0 ? given : await store.recentPlans(MOST_PLANS),
    rotations: store.rotations,
    sends: await readSendsKnown(input, place),
    reasonsFor: (activityId) => reasonsFor(settings.dataDir, activityId),
    orderFor: (activityId) => orderFor(settings.dataDir, activityId),
  }
}

/** An activity as its voter reads it, rebuilt from its own intent. */
export async function viewForVoter(
  activity: Wire.Activity,
  {
    client,
    place,
    known,
    actual,
  }: {
    readonly client: QueryClient
    readonly place: Place
    readonly known: KnownToVoter
    readonly actual: Actual
  },
): Promise<ActivityView> {
  const nowMs = place.now()
  const mfa = await readFactors(client, activity, actual)
  const facts = factsOfActivity(activity, actual)
  const rotation = await known.rotations.find(activity.id)
  const given = { plans: known.plans, rotation, actual, nowMs, baseUrl: place.baseUrl, mfa, facts }
  const reviewed = asCommanded(reviewActivity(activity, given), known.orderFor(activity.id))
  const view = viewActivity(activity, nowMs, actual, mfa, reviewed, known.sends.names)
  const reasons = known.reasonsFor(activity.id).map(({ by, vote, reason }) => ({ by, vote, reason }))
  return withSendsKnown(reasons.length > 0 ? { ...view, reasons } : view, activity, known.sends)
}

/** What a command of this data folder has asked for is not made outside, though no plan asks for it. */
function asCommanded(review: ReviewedActivity, order: CommandOrder | undefined): ReviewedActivity {
  const { kind } = review.explained
  if (order === undefined || (kind !== 'made outside' && kind !== 'unknown')) return review
  const { command, what } = order
  return { ...review, explained: { kind: 'command', command, what } }
}
