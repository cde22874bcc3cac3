import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readStoreStanding } from '../../../activities/index.ts'
import { chainName, namespaceOf } from '../../chain/index.ts'
import type { QueryClient } from '../../client/index.ts'
import { EXIT, type ExitCode, QuorateError, toErrorJson } from '../../diagnostics/index.ts'
import { taskQueueOf, workerSeenAt } from '../../operations/index.ts'
import { nodeName, readNodeStanding } from '../../sending/index.ts'
import {
  type GivenUpWebhooks,
  type PostgresStanding,
  readPostgresStanding,
  readWebhooksGivenUp,
} from '../../service/index.ts'
import { openSessions } from '../../session/index.ts'
import { locateTemporal } from '../../worker/index.ts'
import { originsText, readAuthProxyState } from '../auth-proxy-state.ts'
import { WORKER_ASKS_MS } from '../background/away.ts'
import { bootstrapKey, loadKey, readerAt } from '../background/connect.ts'
import { leftOverTemporal, temporalDeath } from '../background/embedded-temporal.ts'
import { backgroundEnd, findBackground, lookAtBackground, nothingRuns, silentBackground } from '../background/index.ts'
import { readNodeSettings } from '../background/kept-chains.ts'
import { nodeFault } from '../background/node-fault.ts'
import { assertPlanStore } from '../background/plan-store-place.ts'
import { findRunningTemporal, namedTemporal } from '../background/temporal.ts'
import type { CommandInput } from '../command.ts'
import { readDatabase, renderDatabase } from '../database-options.ts'
import { writeJson } from '../io.ts'
import { readMessageOptions } from '../message-options.ts'
import { line } from '../screen.ts'
import { serviceFolder } from '../service-folder.ts'
import { GIVEN_UP_MATTERS_MS, givenUpText } from '../webhooks-given-up.ts'

/** The result of one check. */
interface Finding {
  readonly check: string
  readonly state: 'good' | 'warning' | 'bad' | 'not used'
  readonly found: string
  readonly next?: string
}

/** Checks everything that quorate needs, and says what to mend. Changes nothing and starts nothing. */
export async function doctor(input: CommandInput): Promise<ExitCode> {
  const { io, json } = input
  const findings: Finding[] = []
  const standing = askOnce(input)
  const background = await lookAtBackground(input.settings.dataDir)
  const checks = [
    checkNode,
    checkTemporal,
    () => checkBackground(input, background),
    ...(namedTemporal(input.environment) ? [checkWorker] : []),
    checkKey,
    checkApi,
    checkRelayers,
    checkChains,
    checkDatabase,
    checkPlanStore,
    checkWebhooks,
    checkMessages,
    checkAuthProxy,
  ]
  for (const check of checks) {
    // A background process that does not answer is waited for once, above.
    if (background?.state === 'silent' && ASK_BACKGROUND.has(check)) continue
    for (const finding of [await check(input, standing)].flat()) {
      findings.push(finding)
      if (!json) io.out(render(finding, io.style))
    }
  }
  if (json) writeJson(io, { findings })
  return findings.some(({ state }) => state === 'bad') ? EXIT.error : EXIT.done
}

/** The checks that ask the background process by themselves. */
const ASK_BACKGROUND = new Set<unknown>([checkTemporal, checkWorker, checkKey, checkApi, checkRelayers, checkAuthProxy])

/** How PostgreSQL stands; the first check that calls it asks. Undefined for a service that keeps its rows in a file of its folder. */
type Standing = () => Promise<PostgresStanding | undefined>

function askOnce(input: CommandInput): Standing {
  let answer: ReturnType<Standing> | undefined
  const ask = async () => {
    const database = readDatabase(input)
    return database && readPostgresStanding(database)
  }
  return () => {
    answer ??= ask()
    return answer
  }
}

async function checkNode(): Promise<Finding> {
  return { check: 'Node.js', state: 'good', found: `${process.versions.node}, ${process.platform} ${process.arch}` }
}

/** Asks a Temporal server that is named or runs; if there is none, looks for the program that `up` would start. */
async function checkTemporal(input: CommandInput): Promise<Finding> {
  const check = 'Temporal'
  const { environment, settings } = input
  try {
    const temporal = await findRunningTemporal(input)
    if (temporal) {
      await temporal.close()
      return { check, state: 'good', found: `the server at ${temporal.address} answers` }
    }
  } catch (error) {
    return bad(check, error)
  }
  const died = temporalDeath(settings.dataDir)
  if (died) {
    const next = 'start it again on its state with `quorate up`; nothing that it answered is lost'
    return { check, state: 'bad', found: `the embedded server died at ${died.at}: ${died.how}`, next }
  }
  const binary = await locateTemporal(environment)
  if (binary) return { check, state: 'good', found: `${binary}; it does not run` }
  const found = 'no server on this machine yet; `quorate up` builds one with Go, which takes about two minutes once'
  return { check, state: 'not used', found }
}

async function checkBackground(
  { settings }: CommandInput,
  answer: Awaited<ReturnType<typeof lookAtBackground>>,
): Promise<Finding> {
  const check = 'background'
  if (answer?.state === 'silent') return bad(check, silentBackground(settings.dataDir, answer.pid))
  const left = answer === undefined ? await leftOverTemporal(settings.dataDir) : undefined
  if (left !== undefined) {
    const server = left.runs ? `its Temporal server, pid ${left.pid}, runs alone` : 'nothing of it runs'
    const found = `the background process was killed, and service and worker with it; ${server}`
    const next =
      'bring all of it back on its state with `quorate up`; nothing that it answered is lost, and what is open goes on'
    return { check, state: 'bad', found, next }
  }
  const status = answer?.state === 'up' ? answer.status : undefined
  if (!status) {
    const end = answer === undefined ? backgroundEnd(settings.dataDir) : undefined
    return {
      check,
      state: (end?.isWanted ?? true) ? 'not used' : 'bad',
      found: nothingRuns(settings.dataDir, end),
      next: 'start it with `quorate up`; what is open goes on then',
    }
  }
  return {
    check,
    state: 'good',
    found: `pid ${status.pid} since ${status.startedAt}, service ${status.baseUrl}, Temporal ${status.temporalAddress}`,
  }
}

/** Checks whether a named Temporal server has a worker for the organization. The embedded server ends with its worker. */
async function checkWorker(input: CommandInput): Promise<Finding> {
  const check = 'worker'
  const { settings } = input
  const organizationId = settings.organizationId ?? (await findBackground(settings.dataDir))?.organizationId
  if (organizationId === undefined) return { check, state: 'not used', found: 'no organization is named' }
  const taskQueue = taskQueueOf(organizationId)
  try {
    const temporal = (await findRunningTemporal(input))!
    try {
      const seenAt = await workerSeenAt(temporal.client, taskQueue)
      const next = 'start one with `quorate worker`; what is open goes on then, and nothing is submitted twice'
      if (seenAt === undefined)
        return { check, state: 'bad', found: `none polls the task queue \`${taskQueue}\``, next }
      const last = `polled the task queue \`${taskQueue}\` at ${new Date(seenAt).toISOString()}`
      if (Date.now() - seenAt > WORKER_ASKS_MS) return { check, state: 'bad', found: `the last one ${last}`, next }
      return { check, state: 'good', found: `one ${last}` }
    } finally {
      await temporal.close()
    }
  } catch (error) {
    // `checkTemporal` says why Temporal does not answer.
    return error instanceof QuorateError
      ? { check, state: 'not used', found: 'Temporal could not be asked' }
      : bad(check, error)
  }
}

async function checkKey({ settings }: CommandInput): Promise<Finding> {
  const check = 'API key'
  const status = await findBackground(settings.dataDir)
  if (!settings.key && settings.baseUrl === undefined && !status) {
    const found = existsSync(bootstrapKey(settings.dataDir).path)
      ? 'none is set; the root key of the embedded service is used once that runs'
      : 'none is set; the embedded service makes one when it first comes up'
    return { check, state: 'not used', found }
  }
  try {
    const { baseUrl = status?.baseUrl, organizationId = status?.organizationId } = settings
    const isKept = !settings.key && baseUrl !== undefined && organizationId !== undefined
    const session = isKept ? await openSessions(settings.sessions).find({ baseUrl, organizationId }) : undefined
    if (session) {
      const until = new Date(session.expiresAt).toISOString()
      const found = `session of ${session.userName}, public key ${session.publicKey}, until ${until}`
      return {
        check,
        state: session.expiresAt > Date.now() ? 'good' : 'bad',
        found,
        next: 'log in with `quorate login`',
      }
    }
    const { publicKey } = await loadKey(settings.key ?? bootstrapKey(settings.dataDir), settings)
    return { check, state: 'good', found: `${settings.key?.kind ?? 'embedded'}, public key ${publicKey}` }
  } catch (error) {
    return bad(check, error)
  }
}

async function checkApi(input: CommandInput): Promise<Finding> {
  const check = 'API'
  const { settings } = input
  const status = await findBackground(settings.dataDir)
  const baseUrl = settings.baseUrl ?? status?.baseUrl
  const organizationId = settings.organizationId ?? status?.organizationId
  if (baseUrl === undefined || organizationId === undefined)
    return { check, state: 'not used', found: 'no API is named and no embedded service runs' }
  try {
    const client = await readerAt(input, { baseUrl, organizationId })
    const who = await client.query('whoami', {})
    const found = `${baseUrl} knows the key as ${who.username} of ${who.organizationName} (${who.organizationId})`
    if (input.environment['CI'] && (await isOfRootQuorum(client, who.userId))) {
      return {
        check,
        state: 'warning',
        found: `${found}, one of its root quorum: any code that runs in this pipeline may be able to do everything`,
        next: 'give the pipeline a user of its own that may only propose, as definitions/ci does',
      }
    }
    return { check, state: 'good', found }
  } catch (error) {
    return bad(check, error)
  }
}

async function checkRelayers({ settings }: CommandInput): Promise<Finding> {
  const check = 'sponsoring'
  const relayers = Object.entries((await findBackground(settings.dataDir))?.relayers ?? {})
  if (relayers.length === 0) return { check, state: 'not used', found: 'no embedded service runs' }
  const found = relayers.map(([namespace, address]) => `${address} on ${namespace}`).join(', ')
  return { check, state: 'good', found: `sponsored sends are paid by ${found}` }
}

/** Also where the API is somebody else's: what that keeps and sends is its own business. */
const NO_SERVICE_YET = 'no service has kept anything here'

/** Each chain that the variables name, or that is kept with the data folder: whether its nodes answer, and are its own. */
async function checkChains(input: CommandInput): Promise<readonly Finding[]> {
  const check = 'chain'
  let nodes: ReturnType<typeof readNodeSettings>['nodes']
  try {
    ;({ nodes } = readNodeSettings(input))
  } catch (error) {
    return [bad(check, error)]
  }
  const asked = Object.entries(nodes).flatMap(([caip2, urls]) => urls.map((url) => ({ caip2, url })))
  if (asked.length === 0)
    return [{ check, state: 'not used', found: 'QUORATE_CHAINS names no node, and none is kept with the data folder' }]
  return Promise.all(
    asked.map(async ({ caip2, url }): Promise<Finding> => {
      const [chain, node] = [chainName(caip2), nodeName(url)]
      const standing = await readNodeStanding(url, caip2)
      const head = standing.answers
        ? `, its head is ${namespaceOf(caip2) === 'solana' ? 'slot' : 'block'} ${standing.head}`
        : ''
      const fault = nodeFault({ caip2, url }, standing)
      if (fault) return { check, state: 'bad', found: `${fault.found}${head}`, next: fault.next }
      return { check, state: 'good', found: `${chain}: ${node} answers${head}` }
    }),
  )
}

/** Checks PostgreSQL, if the service keeps its rows there; its file in the data folder needs no check. */
async function checkDatabase(input: CommandInput, askStanding: Standing): Promise<Finding> {
  const check = 'database'
  try {
    const database = readDatabase(input)
    const standing = await askStanding()
    if (!database || !standing) {
      const isHere = existsSync(serviceFolder(input))
      return { check, state: 'not used', found: isHere ? 'rows are in a file of the service’s folder' : NO_SERVICE_YET }
    }
    const { version, pending, processes, holds } = standing
    const found = `PostgreSQL ${version}, ${renderDatabase(database)}`
    if (!holds) return { check, state: 'not used', found: `${found}: no service has kept anything there yet` }
    const by = processes === 1 ? 'one process' : `${processes} processes`
    const served = `${found}: organization ${holds.organizationId}, ${holds.activities} activities, served by ${by}`
    if (pending.length === 0) return { check, state: 'good', found: served }
    const next = 'it is brought there by `quorate migrate`, or as a service starts'
    return { check, state: 'warning', found: `${served}; its schema lacks ${pending.join(', ')}`, next }
  } catch (error) {
    return bad(check, error)
  }
}

/** Checks whether the plan store that machines share answers, has this data folder's key, and has the records that were moved there. */
async function checkPlanStore({ settings }: CommandInput): Promise<Finding> {
  const check = 'plan store'
  const folder = join(settings.dataDir, 'plans')
  try {
    assertPlanStore(settings)
    const standing = await readStoreStanding(folder)
    if (!standing)
      return { check, state: 'not used', found: `it is in its folder, for the machines that share that: ${folder}` }
    const { place, objects, references } = standing
    return { check, state: 'good', found: `${place.shown}: ${objects} objects, ${references} references of sends` }
  } catch (error) {
    return bad(check, error)
  }
}

async function readGivenUp(input: CommandInput, askStanding: Standing): Promise<GivenUpWebhooks | undefined> {
  const standing = await askStanding()
  return standing ? standing.givenUp : readWebhooksGivenUp(serviceFolder(input))
}

async function checkWebhooks(input: CommandInput, askStanding: Standing): Promise<Finding> {
  const check = 'webhooks'
  let givenUp: GivenUpWebhooks | undefined
  try {
    givenUp = await readGivenUp(input, askStanding)
  } catch (error) {
    return bad(check, error)
  }
  if (givenUp === undefined) return { check, state: 'not used', found: NO_SERVICE_YET }
  const { count, last } = givenUp
  if (last === undefined) return { check, state: 'good', found: 'none was given up' }
  const found = givenUpText(count, last)
  // Deliveries that were given up long ago are no warning.
  if (Date.now() - last.failedAt > GIVEN_UP_MATTERS_MS) return { check, state: 'good', found }
  const next = 'see them with `quorate webhooks deliveries`, which also has one delivered again'
  return { check, state: 'warning', found, next }
}

/** Checks the variables for messages, as `up` reads them. The flags of a `serve` are in its own log alone. */
async function checkMessages(input: CommandInput): Promise<Finding> {
  const check = 'messages'
  try {
    const { smtp, sms, sandbox } = await readMessageOptions({ options: {}, environment: input.environment })
    const isElsewhere = !smtp && !sms && !existsSync(serviceFolder(input))
    if (isElsewhere && !sandbox) return { check, state: 'not used', found: NO_SERVICE_YET }
    const outbox = `the outbox in ${serviceFolder(input)}, which \`quorate messages\` shows`
    const mail = smtp ? `${smtp.url.protocol}//${smtp.url.host}` : outbox
    const found =
      smtp || sms
        ? `e-mails go to ${mail}, text messages to ${sms ? sms.url.origin : outbox}`
        : `e-mails and text messages go to ${outbox}`
    if (!sandbox) return { check, state: 'good', found }
    const next = 'unset QUORATE_OTP_SANDBOX where real people log in'
    return { check, state: 'warning', found: `${found}; the codes of the sandbox are known to everybody`, next }
  } catch (error) {
    return bad(check, error)
  }
}

async function checkAuthProxy(input: CommandInput): Promise<Finding> {
  const check = 'auth proxy'
  try {
    const proxy = await readAuthProxyState(input)
    if (!proxy) return { check, state: 'not used', found: 'no service on this machine has told of one' }
    const { url, configId, state, why, methods = [], origins, lastFailure } = proxy
    if (state === 'off')
      return {
        check,
        state: 'not used',
        found: `${url} answers; the organization of configuration ${configId} has it off`,
      }
    if (state === 'unreachable') {
      const next = 'start the service, which runs one by itself, with `quorate up` or `quorate serve`'
      return { check, state: 'bad', found: why ?? `${url} does not answer`, next }
    }
    const where = origins === undefined ? 'which pages may ask was not read' : originsText(origins)
    const found = `${url} answers for configuration ${configId}, ways in: ${methods.join(', ') || 'none'}; ${where}`
    if (!lastFailure) return { check, state: 'good', found }
    const failed = `${found}; last failure at ${lastFailure.at}: ${lastFailure.type}, ${lastFailure.message}`
    if (Date.now() - Date.parse(lastFailure.at) > GIVEN_UP_MATTERS_MS) return { check, state: 'good', found: failed }
    return { check, state: 'warning', found: failed, next: 'see why with `quorate activities`' }
  } catch (error) {
    return bad(check, error)
  }
}

async function isOfRootQuorum(client: QueryClient, userId: string): Promise<boolean> {
  const { configs } = await client.query('get_organization_configs', {})
  return configs?.quorum?.userIds?.includes(userId) ?? false
}

function bad(check: string, error: unknown): Finding {
  if (!(error instanceof QuorateError)) throw error
  const { message, next } = toErrorJson(error)
  return { check, state: 'bad', found: message, ...(next ? { next } : {}) }
}

function render({ check, state, found, next }: Finding, style: CommandInput['io']['style']): string {
  const mark = {
    good: style.good('✓'),
    warning: style.warning('!'),
    bad: style.error('✗'),
    'not used': style.dim('–'),
  }[state]
  const after = next ? line`  ${''.padEnd(10)}  ${style.dim('next')} ${next}\n` : ''
  return line`${mark} ${check.padEnd(10)}  ${found}\n` + after
}
