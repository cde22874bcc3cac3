import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { reviewOf } from '../../analysis/index.ts'
import { ClientError } from '../../client/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  type Cut,
  inEach,
  type LocatedKey,
  type LocatedUser,
  locateGone,
  locateInside,
  locateKey,
  locateUser,
  stillIn,
  type Traced,
  traceKey,
} from '../../incident/index.ts'
import { inside, readActual, readInside } from '../../live/index.ts'
import { compromisedOf, reader } from '../../operations/index.ts'
import type { Actual } from '../../resources/index.ts'
import { factsOfActivity } from '../../scenarios/index.ts'
import { type KeyReference, loadPrivateKey } from '../../stamp/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { parseDuration } from '../durations.ts'
import { writePrivate } from '../files.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { type IncidentView, renderIncident, renderRevert, renderTimeline } from '../views/incident.ts'
import { type Containment, cutOff, isGone, isOfKey, listSuspects, type Suspected } from './incident-contain.ts'
import { writeRevert } from './incident-revert.ts'

/** Says where a key is registered, what it could do and did; with `--contain` it is cut off first, and what it did is read after that. */
export async function incidentKey(input: CommandInput): Promise<ExitCode> {
  const publicKey = readPublicKey(input.args[0]!)
  const place = await findPlace(endless(input), { acts: input.options['contain'] === true })
  const client = reader(place)
  const registered = await locateKey(client, { organizationId: client.organizationId, publicKey })
  const own =
    registered.length > 0 ? registered : await locateGone(client, { organizationId: client.organizationId, publicKey })
  const since = readSince(input.options['since'], place.now())
  const everywhere = input.options['everywhere'] === true
  return report(input, { place, client, publicKey, own, publicKeys: [publicKey], since, everywhere })
}

/** The same of a user, all of whose credentials somebody else may have. */
export async function incidentUser(input: CommandInput): Promise<ExitCode> {
  const named = input.args[0]!
  const place = await findPlace(endless(input), { acts: input.options['contain'] === true })
  const client = reader(place)
  const own = await locateUser(client, named)
  if (!own) {
    throw new QuorateError('cli/unknown-user', line`there is no user \`${named}\`, or there are several of that name`, {
      facts: { submitted: 'nothing' },
      next: 'give the name or the id of one user; `quorate who-can` names the users',
    })
  }
  const { user, others } = own
  const registered = others.flatMap(({ kind, publicKey }) => (kind === 'apiKey' && publicKey ? [publicKey] : []))
  const { here, shared } = compromisedOf(input.settings.dataDir, user.id)
  // It is waited for where those inside are looked for: no submit is held up.
  shared.catch(() => {})
  const publicKeys = [...registered, ...here]
  const since = readSince(input.options['since'], place.now())
  return report(input, { place, client, user, own: [own], publicKeys, markedElsewhere: shared, since })
}

/** To contain goes on through whatever the API holds back: it must not end half done because that takes minutes. */
const endless = ({ settings, environment, io }: CommandInput) => ({ settings, environment, io })

async function report(input: CommandInput, suspected: Suspected): Promise<ExitCode> {
  const { io, json, options, settings } = input
  const { place, publicKey, user, own, since } = suspected
  const leaked = options['leakedKeyFile'] as string | undefined
  const proves = leaked === undefined ? undefined : await loadPrivateKey({ kind: 'file', path: leaked } as KeyReference)
  const at = new Date(place.now()).toISOString()
  const contained = options['contain'] === true ? await cutOff(input, suspected) : undefined
  const missed = ({ what, why }: Cut) => void io.say(line`Unknown: ${what}: ${why!}\n`)
  const exposures = contained?.exposures ?? [...own, ...(await locateAllInside(suspected, missed))]
  const found = { ...suspected, exposures }
  const traces = await traceAll(found, contained)
  const after = contained ? await stillThere({ ...found, proves, cuts: contained.cuts }) : undefined
  const report: IncidentView = {
    ...(user ? { user } : { publicKey: publicKey! }),
    at,
    ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
    ...(contained?.inside ? { inside: contained.inside } : {}),
    organizations: traces.map((one) => ({ ...one, ...(after ? { proof: after.get(one.organization.id)! } : {}) })),
  }
  const path =
    (options['timeline'] as string | undefined) ?? (contained ? ownTimeline(settings.dataDir, report) : undefined)
  if (path !== undefined) writePrivate(path, renderTimeline(report))
  const revert = await writeRevert(input, { ...found, traces })
  const written = { ...(path === undefined ? {} : { timeline: path }), ...(revert ? { revert } : {}) }
  if (json) writeJson(io, { ...report, ...written })
  else {
    io.out(renderIncident(report, io.style))
    if (path !== undefined) io.say(line`The timeline is in ${path}.\n`)
    if (revert) io.say(renderRevert(revert))
  }
  return contained ? exitOf(report) : EXIT.done
}

async function locateAllInside(suspected: Suspected, missed: (cut: Cut) => void): Promise<readonly LocatedUser[]> {
  const listed = await listSuspects(suspected, missed)
  return (await inEach(listed, (one) => locateInside(suspected.client, one))).flat()
}

/** All that is known of where the suspect is registered. */
interface Found extends Suspected {
  readonly exposures: readonly LocatedUser[]
}

type Trace = IncidentView['organizations'][number]

/**
 * What the key did, in its own organization whether it is registered there still or not, and in each other where it is, and what came
 * of cutting it off there.
 */
async function traceAll(
  { client, place, publicKey, exposures, since }: Found,
  contained: Containment | undefined,
): Promise<readonly Trace[]> {
  const own = await readActual(client, { everything: true })
  const ids = new Map([
    [own.organizationId, own.organizationName],
    ...exposures.map(({ organization }) => [organization.id, organization.name] as const),
  ])
  return inEach([...ids], async ([id, name]): Promise<Trace> => {
    const isOwn = id === own.organizationId
    const there = isOwn ? client : inside(client, id)
    const actual = isOwn
      ? own
      : await readInside(
          client,
          { id, name },
          { publicKey: publicKey ?? place.key.publicKey, reader: own.actor, everything: true },
        )
    const exposure = exposures.find(({ organization }) => organization.id === id)
    const suspect =
      exposure && !isOfKey(exposure) && !isGone(exposure)
        ? { userId: exposure.user.id }
        : { publicKey: publicKey ?? exposure!.key!.publicKey }
    const common = { ...suspect, nowMs: place.now(), ...(since === undefined ? {} : { since }) }
    const traced: Traced = await traceKey(there, {
      ...common,
      actual: exposure && isOfKey(exposure) ? withKey(actual, exposure) : actual,
      ...(exposure && !isGone(exposure) ? { user: exposure.user.name } : {}),
    })
    const made = contained && [...(contained.cuts.get(id) ?? []), ...(isOwn ? contained.beside : [])]
    const cuts = made && (await inEach(made, (cut) => withNeeded(cut, { client: there, place, actual })))
    return { organization: { id, name }, ...(exposure ? { exposure } : {}), ...(cuts ? { cuts } : {}), ...traced }
  })
}

/** A step that waits, with whose approval it waits for; as it is where that is not known. */
async function withNeeded(
  cut: Cut,
  { client, place, actual }: Pick<Suspected, 'client' | 'place'> & { readonly actual: Actual },
): Promise<NonNullable<Trace['cuts']>[number]> {
  const { outcome, activityId } = cut
  if (outcome !== 'waits' || activityId === undefined) return cut
  const { activity } = await client.query('get_activity', { activityId })
  const facts = factsOfActivity(activity, actual)
  const { standing } = reviewOf(activity, { actual, nowMs: place.now(), baseUrl: place.baseUrl, facts })
  return standing ? { ...cut, needed: standing.needed } : cut
}

/** What a user could do with a key is asked of the state that had it. */
function withKey(actual: Actual, { user, key }: LocatedKey): Actual {
  if (actual.resources.some(({ id }) => id === key.id)) return actual
  const owner = actual.resources.find(({ kind, id }) => kind === 'user' && id === user.id)
  if (!owner) return actual
  const gone = {
    address: `apiKey.${owner.name}.${key.name}`,
    kind: 'apiKey',
    name: key.name,
    parent: owner.address,
    parentId: user.id,
    id: key.id,
    fields: { curve: 'P256', publicKey: key.publicKey },
  } as const
  return { ...actual, resources: [...actual.resources, gone] }
}

/** Whether the key is registered still and, where its private key is at hand, whether the API refuses it. */
async function stillThere({
  client,
  place,
  exposures,
  proves,
  cuts,
}: Found & {
  readonly proves: Awaited<ReturnType<typeof loadPrivateKey>> | undefined
  readonly cuts: Containment['cuts']
}) {
  const left = await stillIn(client, exposures)
  const ids = [...new Set([client.organizationId, ...exposures.map(({ organization }) => organization.id)])]
  const proofs = await inEach(ids, async (id) => {
    const still = left.filter(({ organization }) => organization.id === id)
    if (still.length === 0) return [id, proves ? await triedIn(id) : 'not registered'] as const
    const isDenied = still.every((one) => !isOfKey(one)) && isDeniedBy(cuts.get(id) ?? [])
    return [id, isDenied ? 'denied' : 'registered'] as const
  })
  return new Map<string, NonNullable<Trace['proof']>>(proofs)

  async function triedIn(organizationId: string): Promise<NonNullable<Trace['proof']>> {
    try {
      await reader({ ...place, organizationId, key: proves! }).query('whoami', {})
      return 'accepted'
    } catch (error) {
      if (error instanceof ClientError && error.code === 'client/unauthenticated') return 'refused'
      throw error
    }
  }
}

/** Whether a policy denies what the user approves, and nothing that was to be cut is left to be done. */
function isDeniedBy(cuts: readonly Cut[]): boolean {
  return cuts.some(({ what }) => what.startsWith('deny ')) && cuts.every(({ outcome }) => outcome === 'done')
}

function exitOf({ organizations }: IncidentView): ExitCode {
  const cuts = organizations.flatMap((one) => one.cuts ?? [])
  if (cuts.some(({ outcome }) => outcome === 'refused' || outcome === 'unknown')) return EXIT.partial
  if (cuts.some(({ outcome }) => outcome === 'waits')) return EXIT.waiting
  const isOut = organizations.every(({ proof }) => proof !== 'registered' && proof !== 'accepted')
  return isOut ? EXIT.done : EXIT.partial
}

function readPublicKey(text: string): string {
  const key = text.toLowerCase().replace(/^0x/, '')
  if (/^(0[23][0-9a-f]{64}|04[0-9a-f]{128}|[0-9a-f]{64})$/.test(key)) return key
  throw new QuorateError('cli/usage', 'expected a public key in hex', {
    facts: { submitted: 'nothing' },
    next: 'give the public half of the key that leaked; `quorate whoami --key-file FILE` tells it',
  })
}

/** `30d` ago, or a time as ISO 8601. */
function readSince(given: unknown, nowMs: number): number | undefined {
  if (typeof given !== 'string') return undefined
  const at = Date.parse(given)
  return /^\d{4}-/.test(given) && !Number.isNaN(at) ? at : nowMs - parseDuration(given, '--since')
}

function ownTimeline(dataDir: string, { publicKey, user, at }: IncidentView): string {
  const folder = join(dataDir, 'incidents')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return join(folder, `${(publicKey ?? user!.id.replace(/-/g, '')).slice(0, 16)}-${at.replace(/[-:]|\.\d+/g, '')}.md`)
}
