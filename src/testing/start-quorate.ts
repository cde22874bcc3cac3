import { type ChildProcess, fork } from 'node:child_process'
import { QuorateError } from '../diagnostics/index.ts'
import type { Answer, Duration, Methods, Quorate, QuorateOptions } from './model.ts'

/** From sources and from the build. */
const PROCESS = new URL(import.meta.url.endsWith('.ts') ? './test-service.ts' : './test-service.js', import.meta.url)

const MS = { days: 86_400_000, hours: 3_600_000, minutes: 60_000, seconds: 1_000 } as const

/**
 * Starts a service for tests, as a process of its own on the loopback, and gives it what the definitions say. It does not keep
 * the caller alive, and ends with it. Throws `testing/not-applied`, and what keeps a service from starting.
 *
 * @example
 * const quorate = await startQuorate({ definitions: 'custody' })
 * const client = new YourApp({ apiUrl: quorate.url, organizationId: quorate.organizationId, key: quorate.keys.alice })
 * await quorate.close()
 */
export async function startQuorate(options: QuorateOptions = {}): Promise<Quorate> {
  const process = startProcess()
  const { ask } = process
  const close = async () => {
    if (process.isRunning()) await ask('close', undefined).catch(() => {})
    await process.gone()
  }
  const started = await ask('start', options).catch(async (error: unknown) => {
    await close()
    throw error
  })
  return {
    ...started,
    url: started.baseUrl,
    now: async () => new Date(await ask('now', undefined)),
    advance: async (by) => new Date(await ask('advance', msOf(by))),
    faults: {
      add: (fault) => ask('addFault', fault),
      list: () => ask('listFaults', undefined),
      clear: (id) => ask('clearFaults', id),
    },
    messages: () => ask('messages', undefined),
    deliveries: () => ask('deliveries', undefined),
    snapshot: () => ask('snapshot', undefined),
    restore: (snapshot) => ask('restore', snapshot),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function msOf(duration: Duration): number {
  return Object.entries(MS).reduce((sum, [unit, ms]) => sum + ms * (duration[unit as keyof Duration] ?? 0), 0)
}

interface TestProcess {
  readonly isRunning: () => boolean
  /** Waits until it is gone. */
  gone(): Promise<void>
  ask<Name extends keyof Methods>(method: Name, input: Parameters<Methods[Name]>[0]): ReturnType<Methods[Name]>
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

function startProcess(): TestProcess {
  const child = fork(PROCESS, {
    // What the runner of the tests was started with is not for it.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  })
  const waiting = new Map<number, Waiting>()
  let asked = 0
  let isRunning = true
  const gone = Promise.withResolvers<void>()
  const hold = createHold(child)
  const end = (cause?: Error) => {
    isRunning = false
    for (const { reject } of waiting.values()) reject(ended(cause))
    waiting.clear()
    gone.resolve()
  }
  child.once('error', end)
  child.once('exit', () => end())
  child.on('message', ({ id, value, error }: Answer) => {
    const one = waiting.get(id)
    waiting.delete(id)
    hold(waiting.size > 0)
    if (error) one?.reject(toError(error))
    else one?.resolve(value)
  })
  return {
    isRunning: () => isRunning,
    async gone() {
      if (isRunning) hold(true)
      await gone.promise
    },
    ask: ((method: keyof Methods, input: unknown) => {
      if (!isRunning) return Promise.reject(ended())
      const id = ++asked
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        hold(true)
        child.send({ id, method, input }, (error) => {
          if (error && waiting.delete(id)) reject(ended(error))
        })
      })
    }) as TestProcess['ask'],
  }
}

/** Only what is waited for keeps this process alive. */
function createHold(child: ChildProcess): (isHeld: boolean) => void {
  return (isHeld) => {
    if (isHeld) {
      child.ref()
      child.channel?.ref()
    } else {
      child.unref()
      child.channel?.unref()
    }
  }
}

function toError({ code, message, facts, next }: NonNullable<Answer['error']>): QuorateError {
  return new QuorateError(code as `${string}/${string}`, message, {
    facts: facts as QuorateError['facts'],
    ...(next === undefined ? {} : { next }),
  })
}

function ended(cause?: Error): QuorateError {
  return new QuorateError('testing/ended', 'the process of the service has ended', {
    next: 'ask before `close()`; where nobody closed it, what it wrote to stderr says why',
    ...(cause ? { cause } : {}),
  })
}
