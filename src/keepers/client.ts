/** What keepers are reached with. */
export interface KeeperTools {
  /** The environment of the program: variables that name a keeper's address and credentials. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Loads a client library. @default `import` */
  readonly load?: ((name: string) => Promise<unknown>) | undefined
}

/** How long a keeper may take. */
export const KEEPER_MS = 10_000

/** A client library that is not there; the message says how it is installed. */
export class ClientMissing extends Error {}

/** Loads a client library that is no dependency of quorate. Throws `ClientMissing`. */
export async function loadClient<Client>(name: string, { load }: KeeperTools): Promise<Client> {
  try {
    return (await (load ?? ((wanted: string) => import(wanted)))(name)) as Client
  } catch (cause) {
    throw new ClientMissing(`the client library ${name} is not installed: \`npm install ${name}\` beside quorate`, {
      cause,
    })
  }
}
