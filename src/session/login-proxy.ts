import { asksProxy, ClientError } from '../client/index.ts'
import { QuorateError } from '../diagnostics/index.ts'
import { BY_REASON } from './proxy-advice.ts'

/** The endpoints of an authentication proxy that prove a contact (docs/protocol/auth-proxy.md). */
export interface LoginProxy {
  readonly url: string
  initOtp(request: { readonly otpType: string; readonly contact: string }): Promise<{
    readonly otpId: string
    readonly otpEncryptionTargetBundle: string
  }>
  verifyOtp(request: { readonly otpId: string; readonly encryptedOtpBundle: string }): Promise<{
    readonly verificationToken: string
  }>
}

/** Reaches a proxy with one configuration of it. Every method throws `session/refused`, or `client/unreachable`. */
export function createLoginProxy({ url, configId }: { readonly url: string; readonly configId: string }): LoginProxy {
  const ask = asksProxy({ url, configId })
  const post = async <Name extends string>(
    path: string,
    request: object,
    names: readonly Name[],
  ): Promise<Readonly<Record<Name, string>>> => {
    let answer: Readonly<Record<string, unknown>>
    try {
      answer = await ask(path, request)
    } catch (error) {
      if (!(error instanceof ClientError) || error.code === 'client/unreachable') throw error
      const said = error.facts['API message'] ?? error.message
      throw new QuorateError('session/refused', `the authentication proxy at \`${url}\` did not go on: ${said}`, {
        facts: error.facts,
        next: nextOf(error),
        cause: error,
      })
    }
    if (names.some((name) => typeof answer[name] !== 'string'))
      throw new QuorateError('session/refused', `the proxy at \`${url}\` answered without ${names.join(', ')}`, {
        next: 'check the URL of the proxy: another program may be answering',
      })
    return answer as Readonly<Record<Name, string>>
  }
  return {
    url,
    initOtp: (request) => post('/v1/otp_init_v2', request, ['otpId', 'otpEncryptionTargetBundle']),
    verifyOtp: (request) => post('/v1/otp_verify_v2', request, ['verificationToken']),
  }
}

/** Who logs in can seldom mend a proxy. */
function nextOf({ refusal = '' }: ClientError): string {
  if (refusal === 'CAPTCHA_REQUIRED')
    return 'log in on a page of the application: only a person solves the captcha that is asked for'
  const mended = BY_REASON[refusal]
  if (mended === undefined) return 'correct what the message names, and log in again; nothing was kept'
  return refusal === 'AUTH_PROXY_NOT_FOUND' ? mended : `ask an administrator to ${mended}`
}
