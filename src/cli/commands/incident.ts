import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ClientError, type QueryClient } from '../../client/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import {
  type Cut,
  contain,
  type LocatedKey,
  locateKey,
  lockOut,
  madeBy,
  type Traced,
  traceKey,
} from '../../incident/index.ts'
import { inside, readActual, readInside } from '../../live/index.ts'
import { createClients, markCompromised, type Place, reader } from '../../operations/index.ts'
import type { Actual } from '../../resources/index.ts'
import { type KeyReference, loadPrivateKey } from '../../stamp/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { parseDuration } from '../durations.ts'
import { writePrivate } from '../files.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { type IncidentView, renderContainment, renderCut, renderIncident, renderTimeline } from '../views/incident.ts'

/** Says where a key is registered, what it could do and did; with `--contain` it is cut off first, and what it did is read after that. */
export async function incidentKey(input: CommandInput): Promise<ExitCode> {
  const { io, json, options, settings } = input
  const publicKey = readPublicKey(input.args[0]!)
  const place = await findPlace(input)
  const client = reader(place)
  const since = readSince(options['since'], place.now())
  const leaked = options['leakedKeyFile'] as string | undefined
  const proves = leaked === undefined ? undefined : await loadPrivateKey({ kind: 'file', path: leaked } as KeyReference)
  const at = new Date(place.now()).toISOString()
  const exposures = await locateKey(client, publicKey)
  const cuts = options['contain'] === true ? await cutOff(input, { place, client, publicKey, exposures }) : undefined
  const traces = await traceAll({ client, place, publicKey, exposures, since })
  const after = cuts ? await stillThere({ client, place, publicKey, exposures, proves }) : undefined
  const report: IncidentView = {
    publicKey,
    at,
    ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
    organizations: traces.map((one) => ({
      ...one,
      ...(cuts ? { cuts: cuts.get(one.organization.id) ?? [], proof: after!.get(one.organization.id)! } : {}),
    })),
  }
  const path = (options['timeline'] as string | undefined) ?? (cuts ? ownTimeline(settings.dataDir, report) : undefined)
  if (path !== undefined) writePrivate(path, renderTimeline(report))
  const written = path === undefined ? {} : { timeline: path }
  if (json) writeJson(io, { ...report, ...written })
  else {
    io.out(renderIncident(report, io.style))
    if (path !== undefined) io.say(line`The timeline is in ${path}.\n`)
  }
  return cuts ? exitOf(report) : EXIT.done
}

interface Found {
  readonly place: Place
  readonly client: QueryClient
  readonly publicKey: string
  readonly exposures: readonly LocatedKey[]
}

/** Asks once, then cuts: the mark first, which takes nobody's answer, then the API organization by organization. */
async function cutOff(
  input: CommandInput,
  { place, client, publicKey, exposures }: Found,
): Promise<ReadonlyMap<string, readonly Cut[]>> {
  const { io, json, settings } = input
  if (place.key.publicKey.toLowerCase() === publicKey) throw ownKey(exposures)
  for (const one of exposures) await assertNoLockOut(one, client)
  if (!json) io.say(renderContainment({ publicKey, exposures }, io.style))
  await assertConfirmed(input, { question: 'Cut it off?', otherwise: 'nothing was submitted' })
  markCompromised(settings.dataDir, publicKey, place.now())
  const clientOf = createClients(place, settings)
  const done = new Map<string, readonly Cut[]>()
  for (const exposure of exposures) {
    const { organization } = exposure
    const tell = (cut: Cut) => (json ? undefined : io.say(renderCut(cut, io.style)))
    const deleteUser = input.options['deleteUser'] === true
    const door = { client: await clientOf(organization), now: place.now, tell, deleteUser }
    done.set(organization.id, await contain(exposure, door))
  }
  return done
}

/** Throws `cli/lock-out` where nobody could change the organization afterwards. */
async function assertNoLockOut(exposure: LocatedKey, client: QueryClient): Promise<void> {
  const isOwn = exposure.organization.id === client.organizationId
  const made = isOwn && exposure.others.length > 0 ? await madeBy(exposure, client) : []
  const why = lockOut(exposure, made)
  if (why === undefined) return
  const { user, key } = exposure
  throw new QuorateError('cli/lock-out', `\`${key.name}\` cannot be cut off first: ${why}`, {
    exit: EXIT.refused,
    facts: { organization: exposure.organization.name, submitted: 'nothing' },
    next: `give ${user.name} a new key at once with \`quorate rotate key --user ${user.name} --name ${key.name} --overlap 0\`, which deletes this one`,
  })
}

function ownKey(exposures: readonly LocatedKey[]): QuorateError {
  const [one] = exposures
  const rotate = one ? `quorate rotate key --user ${one.user.name} --name ${one.key.name} --overlap 0` : 'quorate login'
  return new QuorateError('cli/lock-out', 'the key to cut off is the key that this command works with', {
    exit: EXIT.refused,
    facts: { submitted: 'nothing' },
    next: `work with the key of somebody else, or replace it first: \`${rotate}\``,
  })
}

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
  const traces: Trace[] = []
  for (const [id, name] of ids) {
    const isOwn = id === own.organizationId
    const there = isOwn ? client : inside(client, id)
    const actual = isOwn
      ? own
      : await readInside(client, { id, name }, { publicKey, reader: own.actor, everything: true })
    const exposure = exposures.find(({ organization }) => organization.id === id)
    const common = { publicKey, nowMs: place.now(), ...(since === undefined ? {} : { since }) }
    const traced: Traced = await traceKey(there, {
      ...common,
      actual: exposure ? withKey(actual, exposure) : actual,
      ...(exposure ? { user: exposure.user.name } : {}),
    })
    traces.push({ organization: { id, name }, ...(exposure ? { exposure } : {}), ...traced })
  }
  return traces
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
  publicKey,
  exposures,
  proves,
}: Found & { readonly proves: Awaited<ReturnType<typeof loadPrivateKey>> | undefined }) {
  const now = new Set((await locateKey(client, publicKey)).map(({ organization }) => organization.id))
  const proofs = new Map<string, NonNullable<Trace['proof']>>()
  for (const id of [client.organizationId, ...exposures.map(({ organization }) => organization.id)]) {
    const isRegistered = now.has(id)
    const proof = isRegistered ? 'registered' : proves ? await triedIn(id) : 'not registered'
    proofs.set(id, proof)
  }
  return proofs

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

function exitOf({ organizations }: IncidentView): ExitCode {
  const cuts = organizations.flatMap((one) => one.cuts ?? [])
  if (cuts.some(({ outcome }) => outcome === 'refused' || outcome === 'unknown')) return EXIT.partial
  if (cuts.some(({ outcome }) => outcome === 'waits')) return EXIT.waiting
  const isOut = organizations.every(({ proof }) => proof === 'refused' || proof === 'not registered')
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

function ownTimeline(dataDir: string, { publicKey, at }: IncidentView): string {
  const folder = join(dataDir, 'incidents')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return join(folder, `${publicKey.slice(0, 16)}-${at.replace(/[-:]|\.\d+/g, '')}.md`)
}
