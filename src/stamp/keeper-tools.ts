/** What the keepers of keys that sign by themselves have in common. */

/** What keepers are reached with. */
export interface SignKeyTools {
  /** Variables that name a keeper's address and credentials. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Loads a client library. @default `import` */
  readonly load?: ((name: string) => Promise<unknown>) | undefined
}

/** Signs a SHA-256 digest: DER, or `r ‖ s`. */
export type SignDigest = (digest: Uint8Array) => Promise<Uint8Array>
/** Opens a key of a keeper by what stands after the keeper's name. */
export type OpenKeeperKey = (rest: string, tools: SignKeyTools) => Promise<SignDigest>

/** How long a keeper may take for one signature. */
export const KEEPER_MS = 10_000

/** Loads a client library that is no dependency of quorate. */
export async function loadClient<Client>(name: string, { load }: SignKeyTools): Promise<Client> {
  try {
    return (await (load ?? ((wanted: string) => import(wanted)))(name)) as Client
  } catch (cause) {
    throw new Error(`the client library ${name} is not installed: \`npm install ${name}\` beside quorate`, { cause })
  }
}
