/** `oauth` and `oauth_login`: somebody whom an OIDC token names gets a session (docs/protocol/oauth.md#logging-in). */
import type { Wire } from '../../../protocol/index.ts'
import { checkCredentialBundle, checkLoginKey, issueCredentialBundle, issueSession } from '../../login/index.ts'
import { LINKED_PROVIDER_NAME } from '../../readings.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'
import { addOauthProviders } from '../oauth-providers/new-oauth-providers.ts'
import { findIdentifiedUser, requireIdentifiedUser, useUp } from './identified-user.ts'
import { requireUserToLink } from './user-to-link.ts'

const oauthLogin: TypedHandler<Wire.OauthLoginIntent, Wire.OauthLoginResult> = {
  async validate(context, { oidcToken, ...key }) {
    const known = await findIdentifiedUser(context, { oidcToken, publicKey: key.publicKey })
    const user = known ?? (await requireUserToLink(context, oidcToken))
    await checkLoginKey(context, user, { kind: 'CREDENTIAL_TYPE_LOGIN', ...key })
  },
  async execute(context, { oidcToken, ...key }) {
    const known = await findIdentifiedUser(context, { oidcToken, publicKey: key.publicKey })
    const user = known ?? (await requireUserToLink(context, oidcToken))
    if (!known)
      await addOauthProviders(context, user, [{ name: LINKED_PROVIDER_NAME, oidcToken, oidcClaims: undefined }])
    await useUp(context, oidcToken)
    return { session: await issueSession(context, user, key) }
  },
}

const oauth: TypedHandler<Wire.OauthIntent, Wire.OauthResult> = {
  async validate(context, { oidcToken, ...bundle }) {
    checkCredentialBundle(bundle)
    await requireIdentifiedUser(context, { oidcToken, publicKey: bundle.targetPublicKey })
  },
  async execute(context, { oidcToken, apiKeyName, ...key }) {
    const user = await requireIdentifiedUser(context, { oidcToken, publicKey: key.targetPublicKey })
    await useUp(context, oidcToken)
    const { apiKeyId, credentialBundle } = await issueCredentialBundle(context, user, {
      kind: 'CREDENTIAL_TYPE_OAUTH_KEY_P256',
      name: apiKeyName,
      ...key,
    })
    return { userId: user.id, apiKeyId, credentialBundle }
  },
}

export const oauthLoginHandlers = {
  ACTIVITY_TYPE_OAUTH: oauth,
  ACTIVITY_TYPE_OAUTH_LOGIN: oauthLogin,
} satisfies HandlerRows
