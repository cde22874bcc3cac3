import type { ResolveHost } from '../network/index.ts'
import { createFolderTransport } from './folder-transport.ts'
import type { Transports } from './messenger.ts'
import { createSmsTransport, type SmsSettings } from './sms-transport.ts'
import { createSmtpTransport, type SmtpSettings } from './smtp-transport.ts'

export type { SmsSettings, SmtpSettings }

/** How messages leave, and what they may look like. */
export interface MessagesSettings {
  /** @default e-mails go into the outbox of the data folder */
  readonly smtp?: SmtpSettings
  /** @default text messages go into the outbox of the data folder */
  readonly sms?: SmsSettings
  /** Domains that e-mails may claim to come from, beside that of `smtp.from`. */
  readonly senderDomains?: readonly string[]
  /** A folder with texts of e-mails, `ID/subject.txt`, `ID/body.txt` and `ID/body.html` each. */
  readonly templatesFolder?: string
  /** Whether the contacts of the sandbox are written nothing, and have a code that everybody knows. @default false */
  readonly sandbox?: boolean
}

/** Opens the transport of each kind. */
export function createTransports(
  { smtp, sms }: MessagesSettings,
  { dataDir, resolveHost }: { readonly dataDir: string; readonly resolveHost: ResolveHost },
): Transports {
  const folder = createFolderTransport(dataDir)
  return {
    email: smtp ? createSmtpTransport(smtp) : folder,
    sms: sms ? createSmsTransport(sms, { resolveHost }) : folder,
  }
}
