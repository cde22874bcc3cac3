import { ApiError, apiError, GRPC } from '../../protocol/index.ts'
import { type MailTemplates, readMailTemplates } from './mail-templates.ts'
import type { MessagesSettings } from './transports.ts'

/** What handlers must know of how messages are sent. */
export interface MessageRules {
  /** Whether the contacts of the sandbox are written nothing, and have a code that everybody knows. */
  readonly sandbox: boolean
  /** The texts that the operator has put there, by their id. */
  readonly templates: MailTemplates
  /** Throws the refusal of an address that e-mails must not claim to come from. */
  readonly checkSender: (address: string | undefined) => void
}

/** Reads the rules from the settings. Throws `service/mail-template-…` for a template that cannot be read. */
export function readMessageRules(settings: MessagesSettings): MessageRules {
  const { sandbox = false, smtp, senderDomains = [], templatesFolder } = settings
  const own = smtp && domainOf(smtp.from.address)
  const domains = new Set([...senderDomains, ...(own === undefined ? [] : [own])].map((name) => name.toLowerCase()))
  return {
    sandbox,
    templates: readMailTemplates(templatesFolder),
    checkSender(address = '') {
      if (address === '') return
      const domain = domainOf(address.toLowerCase())
      // An outbox that only its owner reads deceives nobody.
      if (smtp !== undefined && !domains.has(domain)) throw unverifiedSender(domain)
    },
  }
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1)
}

/** Unstated: the text for a sender whose domain is not verified (docs/protocol/one-time-passcodes.md#messages). */
function unverifiedSender(domain: string): ApiError {
  const message = `sender domain is not verified: ${domain}`
  return new ApiError(GRPC.InvalidArgument, message, { code: 'INVALID_FQDN' })
}

/** The refusal of a template that nobody has put there. */
export function noSuchTemplate(): ApiError {
  return apiError('mailTemplateContents')
}
