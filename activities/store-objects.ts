import { ApplyError } from './error.ts'
import { STORE_MS } from './store-limits.ts'
import type { ObjectStore, StorePlace } from './store-model.ts'

/** Opens a shared plan store; nothing is asked yet, and the library of the server is loaded when something is. */
export function openObjectStore(place: StorePlace): ObjectStore {
  let opened: Promise<ObjectStore> | undefined
  const open = () => {
    opened ??= openNow(place).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  const ask = async <T>(what: string, work: (store: ObjectStore) => Promise<T>): Promise<T> => {
    try {
      return await work(await open())
    } catch (error) {
      throw told(place, what, error)
    }
  }
  return {
    read: (name) => ask('read', (store) => store.read(name)),
    versionOf: (name) => ask('read', (store) => store.versionOf(name)),
    putIfAbsent: (name, text) => ask('write', (store) => store.putIfAbsent(name, text)),
    replace: (name, text, version) => ask('write', (store) => store.replace(name, text, version)),
    put: (name, text) => ask('write', (store) => store.put(name, text)),
    remove: (name) => ask('write', (store) => store.remove(name)),
    list: (shelf) => ask('list', (store) => store.list(shelf)),
    listAll: () => ask('list', (store) => store.listAll()),
    assertConditions: () => ask('write', (store) => store.assertConditions()),
    close: async () => (await opened)?.close(),
  }
}

async function openNow(place: StorePlace): Promise<ObjectStore> {
  switch (place.kind) {
    case 'postgres':
      return (await import('./store-postgres.ts')).openPostgresStore(place)
    case 's3':
      return (await import('./store-s3.ts')).openS3Store(place)
    default:
      return place.kind satisfies never
  }
}

/** What another server says may hold the statement, the host and the user; its class and its first line say enough. */
function told(place: StorePlace, what: string, error: unknown): ApplyError {
  if (error instanceof ApplyError) return error
  const { name = '', code = '', message = String(error) } = (error ?? {}) as Record<'name' | 'code' | 'message', string>
  const isLate = name === 'AbortError' || name === 'TimeoutError' || /timeout/i.test(message)
  const reason = isLate ? `no answer within ${STORE_MS / 1000} s` : [code || name, message].filter(Boolean).join(': ')
  return new ApplyError('apply/store-failed', `the plan store at ${place.shown} did not answer a ${what}`, {
    facts: {
      reason: reason.split('\n')[0]!.slice(0, 200),
      'whether it was done': what === 'write' ? 'not known' : undefined,
    },
    next: 'bring the server back, or mend how it is reached; the same command or step goes on by itself',
    cause: error,
  })
}
