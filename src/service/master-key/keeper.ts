import { ServiceError } from '../error.ts'

/** Who wraps and opens the master key. */
export interface Keeper {
  /** Gives what only this keeper opens; bytes of its own form. */
  wrap(key: Uint8Array): Promise<Uint8Array>
  unwrap(wrapped: Uint8Array): Promise<Uint8Array>
  close?(): void
}

/** What a keeper is made with. */
export interface KeeperTools {
  /** The environment of the program: variables that keepers are named or reached by. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Loads a client library. @default `import` */
  readonly load?: (name: string) => Promise<unknown>
}

export type OpenKeeper = (rest: string, tools: KeeperTools) => Promise<Keeper>

/** Bound to what is wrapped where a keeper can: what it opens for another purpose is no master key. */
export const PURPOSE = 'quorate master key'

/** How long a keeper may take. */
export const KEEPER_MS = 10_000

/** Loads a client library that is no dependency of quorate. Throws `service/key-keeper-failed` where it is not there. */
export async function loadClient<Client>(name: string, { load }: KeeperTools): Promise<Client> {
  try {
    return (await (load ?? ((wanted: string) => import(wanted)))(name)) as Client
  } catch (cause) {
    throw new ServiceError('service/key-keeper-failed', `the client library \`${name}\` is not installed`, {
      next: `install it beside quorate: \`npm install ${name}\``,
      cause,
    })
  }
}

/** A variable that must be there. Throws `service/key-keeper-failed`. */
export function variable(name: string, { environment }: KeeperTools): string {
  const value = environment[name]
  if (value) return value
  throw new ServiceError('service/key-keeper-failed', `the variable ${name} is not set`, { next: `set ${name}` })
}

/** A secret is shown to nobody: only its shape is said. */
export function checkLength(key: Uint8Array, from: string, length = 32): Uint8Array {
  if (key.length === length) return key
  throw new ServiceError('service/key-keeper-failed', `expected ${length} bytes from ${from}, got ${key.length}`, {
    next: 'give the key that the master key was wrapped with',
  })
}
