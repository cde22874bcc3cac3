import { randomBytes } from '../../crypto/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { type ProxyFinding, checkProxy as walk } from '../../session/index.ts'
import { findApi } from '../background/connect.ts'
import { readKnownService } from '../background/index.ts'
import type { CommandInput } from '../command.ts'
import { type Io, writeJson } from '../io.ts'
import { line } from '../screen.ts'

/** Walks sign-up and login against any authentication proxy, and says what fails. */
export async function checkProxy(input: CommandInput): Promise<ExitCode> {
  const { io, json, args, options, settings } = input
  // With one of these it asks for codes, or signs somebody up.
  const acts = options['yes'] === true || options['email'] !== undefined
  const api = await findApi(input, { acts })
  const text = (name: string) => (typeof options[name] === 'string' ? String(options[name]) : undefined)
  const known = readKnownService(text('serviceKeys'), api, settings.dataDir)
  const [url, configId] = [args[0] ?? known.authProxyUrl, text('proxyConfigId') ?? known.authProxyConfigId]
  if (url === undefined || configId === undefined) {
    throw new QuorateError('cli/usage', 'expected the URL of the proxy, and --proxy-config-id', {
      next: '`bootstrap.json` in the folder of the service has both: name it with --service-keys',
    })
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new QuorateError('cli/usage', `\`${url}\` is no URL of a proxy`, {
      next: `give it with its scheme, without a path: https://auth.example.com`,
    })
  }
  const contact = text('email')
  const findings = await walk({
    url,
    configId,
    baseUrl: api.baseUrl,
    keys: known,
    now: api.now,
    randomBytes,
    origin: text('origin'),
    signUp: options['yes'] === true,
    contact,
    askCode(again) {
      if (again !== undefined) io.say(line`${again}\n`)
      return io.askText(line`The code that was sent to ${contact ?? ''}:`)
    },
    tell: (finding) => json || io.out(render(finding, io.style)),
  })
  if (json) writeJson(io, { url, findings })
  return findings.some(({ state }) => state === 'bad') ? EXIT.error : EXIT.done
}

function render({ step, state, found, next }: ProxyFinding, style: Io['style']): string {
  const mark = { good: style.good('✓'), bad: style.error('✗'), 'not tried': style.dim('–') }[state]
  const advice = next === undefined ? '' : line`${' '.repeat(17)}${next}\n`
  return line`${mark} ${step.padEnd(13)}  ${found}\n` + advice
}
