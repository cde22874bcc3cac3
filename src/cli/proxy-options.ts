/** The options of an authentication proxy, which `serve` and `proxy` share. */
import { QuorateError } from '../diagnostics/index.ts'
import type { ProxySettings } from '../service/index.ts'
import { Secret } from '../telemetry/index.ts'
import type { CommandInput } from './command.ts'

/** Reads them, but for the port. Throws `cli/usage`. */
export function readProxyOptions({
  options,
  environment,
}: Pick<CommandInput, 'options' | 'environment'>): ProxySettings {
  const secret = environment['QUORATE_CAPTCHA_SECRET']
  const [siteKey, url] = [options['captchaSiteKey'], options['captchaUrl']]
  if (!secret && (siteKey !== undefined || url !== undefined)) {
    throw new QuorateError('cli/usage', 'a captcha needs a secret, and QUORATE_CAPTCHA_SECRET is not set', {
      next: 'set it to the secret that the captcha service gave you',
    })
  }
  if (url !== undefined && !/^https?:$/.test(URL.parse(String(url))?.protocol ?? '')) {
    throw new QuorateError('cli/usage', `expected --captcha-url to be a URL, got \`${url}\``, {
      next: 'correct --captcha-url',
    })
  }
  return {
    rate: readCount(options['proxyRate'], '--proxy-rate'),
    codesPerAddress: readCount(options['codesPerAddress'], '--codes-per-address'),
    ...(secret
      ? {
          captcha: {
            secret: new Secret(secret),
            ...(url === undefined ? {} : { url: String(url) }),
            ...(siteKey === undefined ? {} : { siteKey: String(siteKey) }),
          },
        }
      : {}),
  }
}

function readCount(text: unknown, name: string): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,5}$/.test(String(text))) return Number(text)
  throw new QuorateError('cli/usage', `expected ${name} to be a whole number from 1, got \`${text}\``, {
    next: `correct ${name}`,
  })
}
