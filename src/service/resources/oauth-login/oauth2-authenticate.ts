/** `oauth2_authenticate`: an OIDC token for somebody whom a provider without OIDC knows (docs/protocol/oauth.md#codes-of-x-and-discord). */
import type { Wire } from '../../../protocol/index.ts'
import type { ExchangedCode } from '../../engine/index.ts'
import { oauth2CredentialNotFound } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { oauth2CredentialTable } from '../oauth2-credentials/store.ts'

const oauth2Authenticate: TypedHandler<Wire.Oauth2AuthenticateIntent, Wire.Oauth2AuthenticateResult, ExchangedCode> = {
  prepare: (intent, outside, organizationId) => outside.exchangeCode(intent, organizationId),
  async validate({ tx, organizationId }, { oauth2CredentialId: id }) {
    if (!(await oauth2CredentialTable.find(tx, organizationId, id))) throw oauth2CredentialNotFound(id)
  },
  async execute({ answers, oauth, now }, { nonce }) {
    return { oidcToken: oauth.issueToken({ ...answers!, nonce }, now) }
  },
}

export const oauth2AuthenticateHandlers = {
  ACTIVITY_TYPE_OAUTH2_AUTHENTICATE: oauth2Authenticate,
} satisfies HandlerRows
