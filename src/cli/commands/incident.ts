import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ClientError, type QueryClient } from '../../client/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  type Cut,
  contain,
  containUser,
  inEach,
  type LocatedKey,
  type LocatedUser,
  locateKey,
  locateUser,
  lockOut,
  lockOutUser,
  madeBy,
  stillIn,
  type Traced,
  traceKey,
} from '../../incident/index.ts'
import { inside, readActual, readInside } from '../../live/index.ts'
import { compromisedOf, keyInside, markCompromised, type Place, reader, submitter } from '../../operations/index.ts'
import type { Actual } from '../../resources/index.ts'
import { type KeyReference, loadPrivateKey } from '../../stamp/index.ts'
import { findPlace } from '../background/connect.ts'
import { holdReconciler } from '../background/hold-reconciler.ts'
import type { CommandInput } from '../command.ts'
import { parseDuration } from '../durations.ts'
import { writePrivate } from '../files.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { age } from '../views/activity.ts'
import {
  type IncidentView,
  renderContainment,
  renderCut,
  renderIncident,
  renderRevert,
  renderTimeline,
} from '../views/incident.ts'
import { shellWord } from '../views/shell-word.ts'
import { writeRevert } from './incident-revert.ts'

/** Says where a key is registered, what it could do and did; with `--contain` it is cut off first, and what it did is read after that. */
export async function incidentKey(input: CommandInput): Promise<ExitCode> {
  const publicKey = readPublicKey(input.args[0]!)
  const place = await findPlace(input)
  const exposures = await locateKey(reader(place), publicKey)
  return report(input, { place, client: reader(place), publicKey, exposures })
}

/** The same of a user, all of whose credentials somebody else may have. */
export async function incidentUser(input: CommandInput): Promise<ExitCode> {
  const named = input.args[0]!
  const place = await findPlace(input)
  const client = reader(place)
  const exposures = await locateUser(client, named, (userId) => compromisedOf(input.settings.dataDir, userId))
  if (!exposures) {
    throw new QuorateError('cli/usage', line`not one user has the name or id \`${named}\``, {
      facts: { submitted: 'nothing' },
      next: 'give the id of the user; `quorate who-can` names the users',
    })
  }
  return report(input, { place, client, user: exposures[0]!.user, exposures })
}

async function report(input: CommandInput, found: Found): Promise<ExitCode> {
  const { io, json, options, settings } = input
  const { place, publicKey, user } = found
  const since = readSince(options['since'], place.now())
  const leaked = options['leakedKeyFile'] as string | undefined
  const proves = leaked === undefined ? undefined : await loadPrivateKey({ kind: 'file', path: leaked } as KeyReference)
  const at = new Date(place.now()).toISOString()
  const cuts = options['contain'] === true ? await cutOff(input, found) : undefined
  const traces = await traceAll({ ...found, since })
  const after = cuts ? await stillThere({ ...found, proves, cuts }) : undefined
  const report: IncidentView = {
    ...(user ? { user } : { publicKey: publicKey! }),
    at,
    ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
    organizations: traces.map((one) => ({
      ...one,
      ...(cuts ? { cuts: cuts.get(one.organization.id) ?? [], proof: after!.get(one.organization.id)! } : {}),
    })),
  }
  const path = (options['timeline'] as string | undefined) ?? (cuts ? ownTimeline(settings.dataDir, report) : undefined)
  if (path !== undefined) writePrivate(path, renderTimeline(report))
  const revert = await writeRevert(input, { ...found, since, traces })
  const written = { ...(path === undefined ? {} : { timeline: path }), ...(revert ? { revert } : {}) }
  if (json) writeJson(io, { ...report, ...written })
  else {
    io.out(renderIncident(report, io.style))
    if (path !== undefined) io.say(line`The timeline is in ${path}.\n`)
    if (revert) io.say(renderRevert(revert))
  }
  return cuts ? exitOf(report) : EXIT.done
}

/** The key that leaked, or the user. */
interface Found {
  readonly place: Place
  readonly client: QueryClient
  readonly publicKey?: string | undefined
  readonly user?: LocatedUser['user'] | undefined
  readonly exposures: readonly LocatedUser[]
}

type Cuts = ReadonlyMap<string, readonly Cut[]>

const isOfKey = (one: LocatedUser): one is LocatedKey => one.key !== undefined

/** Asks once, then cuts: the mark first, which takes nobody's answer, then the API organization by organization. */
async function cutOff(input: CommandInput, { place, client, publicKey, user, exposures }: Found): Promise<Cuts> {
  const { io, json, settings } = input
  const own = place.key.publicKey.toLowerCase()
  if (own === publicKey) throw ownKey(exposures)
  if (user && exposures[0]!.others.some((one) => one.publicKey === own)) throw ownKey([], user.name)
  for (const one of exposures) await assertNoLockOut(one, client)
  if (!json) {
    io.say(renderContainment({ ...(user ? { user } : { publicKey: publicKey! }), exposures }, io.style))
    io.say(timeNeeded(exposures.length, settings.requestsPerSecond))
  }
  const othersSince = readOthersSince(input, place.now())
  if (!json && othersSince !== undefined) {
    const since = new Date(othersSince).toISOString()
    io.say(line`Credentials that were made for other users since ${since} are deleted as well.\n`)
  }
  await assertConfirmed(input, { question: 'Cut it off?', otherwise: 'nothing was submitted' })
  for (const key of keysOf({ publicKey, exposures })) markCompromised(settings.dataDir, key, place.now(), user?.id)
  const done = new Map<string, Cut[]>()
  const take = ({ organization }: LocatedUser, cuts: readonly Cut[]) =>
    done.set(organization.id, [...(done.get(organization.id) ?? []), ...cuts])
  // What Temporal may have to be waited for holds no submit up.
  const held = holdReconciler(input, place, because({ publicKey, user }))
  const deleteUser = input.options['deleteUser'] === true
  const others = othersSince === undefined ? {} : { othersSince }
  await inEach(exposures, async (exposure) => {
    const { id, name } = exposure.organization
    const where = exposures.length > 1 ? `${name}: ` : ''
    const tell = (cut: Cut) => (json ? undefined : io.say(renderCut({ ...cut, what: where + cut.what }, io.style)))
    try {
      // One rate for all of them: the API counts the requests of one address together (docs/protocol/limits.md#requests-a-second).
      const key = (id === place.organizationId ? undefined : await keyInside(place, name)) ?? place.key
      const door = {
        client: submitter({ ...place, organizationId: id, key }),
        now: place.now,
        tell,
        deleteUser,
        ...others,
      }
      take(exposure, await (isOfKey(exposure) ? contain(exposure, door) : containUser(exposure, door)))
    } catch (error) {
      // A bad key file of one organization leaves no other uncut.
      const why = error instanceof Error ? error.message : String(error)
      const cut = { what: 'cut it off here', outcome: 'unknown', why } as const
      tell(cut)
      take(exposure, [cut])
    }
  })
  const hold = await held
  if (hold && !json) io.say(renderCut(hold, io.style))
  const first = exposures.find(({ organization }) => organization.id === place.organizationId) ?? exposures[0]
  if (hold && first) take(first, [hold])
  return done
}

/** Requests for an organization until it is cut off: what is open, the deletion, what waits, what was made. */
const REQUESTS_EACH = 5
/** Requests a second by plan (docs/protocol/limits.md#requests-a-second). */
const PLANS = [1, 3, 60]

/** How long many organizations take at the rate that is set, or at each published one. */
function timeNeeded(organizations: number, requestsPerSecond: number | undefined): string {
  if (organizations < 2) return ''
  const requests = organizations * REQUESTS_EACH
  const at = (rate: number) => `${age((requests / rate) * 1000)} at ${rate} a second`
  const rates = requestsPerSecond === undefined ? PLANS : [requestsPerSecond]
  return line`${organizations} organizations, about ${requests} requests: ${rates.map(at).join(', ')}.\n`
}

const because = ({ publicKey, user }: Pick<Found, 'publicKey' | 'user'>) =>
  user ? `incident: user ${user.id}` : `incident: key ${publicKey}`

/** Public keys that no definition may name any more. */
function keysOf({ publicKey, exposures }: Pick<Found, 'publicKey' | 'exposures'>): readonly string[] {
  if (publicKey !== undefined) return [publicKey]
  return exposures[0]!.others.flatMap((one) => (one.kind === 'apiKey' && one.publicKey ? [one.publicKey] : []))
}

/** Throws `cli/lock-out` where nobody could change the organization afterwards. */
async function assertNoLockOut(exposure: LocatedUser, client: QueryClient): Promise<void> {
  if (!isOfKey(exposure)) {
    const why = lockOutUser(exposure)
    if (why === undefined) return
    throw new QuorateError('cli/lock-out', line`\`${exposure.user.name}\` cannot be cut off first: ${why}`, {
      exit: EXIT.refused,
      facts: { organization: exposure.organization.name, submitted: 'nothing' },
      next: 'take somebody else into the root quorum, or lower its threshold; then cut the user off',
    })
  }
  const isOwn = exposure.organization.id === client.organizationId
  const made = isOwn && exposure.others.length > 0 ? await madeBy(exposure, client) : []
  const why = lockOut(exposure, made)
  if (why === undefined) return
  const { user, key } = exposure
  throw new QuorateError('cli/lock-out', `\`${key.name}\` cannot be cut off first: ${why}`, {
    exit: EXIT.refused,
    facts: { organization: exposure.organization.name, submitted: 'nothing' },
    next: `give ${user.name} a new key at once with \`${rotationOf(user.name, key.name)}\`, which deletes this one`,
  })
}

function ownKey(exposures: readonly LocatedUser[], userName?: string): QuorateError {
  const one = exposures.find(isOfKey)
  const rotate = one ? rotationOf(one.user.name, one.key.name) : 'quorate login'
  const what = userName === undefined ? 'the key to cut off is' : line`one of the credentials of \`${userName}\` is`
  return new QuorateError('cli/lock-out', `${what} the key that this command works with`, {
    exit: EXIT.refused,
    facts: { submitted: 'nothing' },
    next:
      userName === undefined
        ? `work with the key of somebody else, or replace it first: \`${rotate}\``
        : 'work with the key of somebody else',
  })
}

const rotationOf = (user: string, key: string) =>
  `quorate rotate key --user ${shellWord(user)} --name ${shellWord(key)} --overlap 0`

type Trace = IncidentView['organizations'][number]

/** What the key did, in its own organization whether it is registered there still or not, and in each other where it is. */
async function traceAll({
  client,
  place,
  publicKey,
  exposures,
  since,
}: Found & { readonly since: number | undefined }): Promise<readonly Trace[]> {
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
      exposure && !isOfKey(exposure)
        ? { userId: exposure.user.id }
        : { publicKey: publicKey ?? exposure!.key!.publicKey }
    const common = { ...suspect, nowMs: place.now(), ...(since === undefined ? {} : { since }) }
    const traced: Traced = await traceKey(there, {
      ...common,
      actual: exposure && isOfKey(exposure) ? withKey(actual, exposure) : actual,
      ...(exposure ? { user: exposure.user.name } : {}),
    })
    return { organization: { id, name }, ...(exposure ? { exposure } : {}), ...traced }
  })
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
}: Found & { readonly proves: Awaited<ReturnType<typeof loadPrivateKey>> | undefined; readonly cuts: Cuts }) {
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

/** Since when the credentials of others are not trusted either; undefined: they are left. Throws `cli/usage` without a time. */
function readOthersSince({ options }: CommandInput, nowMs: number): number | undefined {
  if (options['madeForOthers'] !== true) return undefined
  const since = readSince(options['since'], nowMs)
  if (since !== undefined) return since
  throw new QuorateError('cli/usage', '--made-for-others needs to know since when', {
    facts: { submitted: 'nothing' },
    next: 'give --since with the time from which on nothing that was made is trusted',
  })
}
