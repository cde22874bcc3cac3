/** One plan, measured: its folder and its API's answers come as arguments, the figures go out as JSON. */
import { readFileSync } from 'node:fs'
import { planWithForecast } from '../../src/analysis/index.ts'
import { loadDefinitions, readLock } from '../../src/definitions/index.ts'
import { creatorsOf, readActual } from '../../src/live/index.ts'
import { renderPlanText } from '../../src/plan/index.ts'
import { BASE_URL, createBenchClient } from './plan-client.ts'

const [folder, answers] = [process.argv[2]!, process.argv[3]!]
const client = createBenchClient(JSON.parse(readFileSync(answers, 'utf8')))
const steps: Record<string, number> = {}
// Reading what stands for the network is not planning.
let at = process.cpuUsage()
const begin = at
const step = (name: string) => {
  const { user, system } = process.cpuUsage(at)
  steps[name] = (user + system) / 1e6
  at = process.cpuUsage()
}
const { desired, diagnostics } = await loadDefinitions(folder, { env: {}, vars: {} })
if (!desired) throw new Error(diagnostics[0]!.message)
step('load')
const { lock } = await readLock(folder)
step('lock')
const actual = await readActual(client)
const creators = await creatorsOf(client, actual, lock)
step('read')
const { plan } = planWithForecast({
  desired,
  actual,
  lock,
  creators,
  baseUrl: BASE_URL,
  allow: [],
  now: new Date().toISOString(),
})
step('plan')
renderPlanText(plan)
const { user, system } = process.cpuUsage(begin)
const { maxRSS } = process.resourceUsage()
console.log(
  JSON.stringify({
    cpuSeconds: (user + system) / 1e6,
    megabytes: maxRSS / 1024,
    requests: client.requests,
    steps,
    resources: desired.resources.length,
    changes: plan.changes.length,
  }),
)
