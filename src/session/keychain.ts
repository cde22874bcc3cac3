import { Secret } from '../telemetry/index.ts'

/** The keychain of the system: texts under the names of accounts. */
export interface Keychain {
  /** False where there is none to write to. */
  write(account: string, secret: Secret): Promise<boolean>
  read(account: string): Promise<Secret | undefined>
  delete(account: string): Promise<void>
}

const SERVICE = 'quorate'

/**
 * The keychain of macOS, the credential store of Windows, or the Secret Service of a desktop. Where the system has none, or
 * it is locked, nothing is written and nothing found. The library is loaded only when it is asked.
 */
export function openKeychain(): Keychain {
  const use = async <Value>(account: string, work: (entry: Entry) => Value): Promise<Value | undefined> => {
    try {
      const { Entry } = await import('@napi-rs/keyring')
      return work(new Entry(SERVICE, account))
    } catch {
      // What it says differs with the system, and names nothing that a person could mend.
      return undefined
    }
  }
  return {
    write: async (account, secret) =>
      (await use(account, (entry) => {
        entry.setPassword(secret.reveal())
        return entry.getPassword() === secret.reveal()
      })) ?? false,
    async read(account) {
      const text = await use(account, (entry) => entry.getPassword())
      return text ? new Secret(text) : undefined
    },
    async delete(account) {
      await use(account, (entry) => entry.deletePassword())
    },
  }
}

type Entry = InstanceType<typeof import('@napi-rs/keyring').Entry>
