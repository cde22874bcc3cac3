import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import { askAboutWebhooks } from '../../service/operator/index.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { line } from '../screen.ts'
import { serviceFolder } from '../service-folder.ts'
import { renderDeliveries } from '../views/webhooks.ts'

/** Shows which webhooks of the service on this machine wait or were given up, and why; and has one delivered again. */
export async function webhookDeliveries(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const folder = serviceFolder(input)
  const eventId = options['redeliver'] === undefined ? undefined : String(options['redeliver'])
  const seen = await askAboutWebhooks(
    folder,
    eventId === undefined ? { kind: 'list-deliveries' } : { kind: 'redeliver', eventId },
  )
  if (json) writeJson(io, seen)
  else {
    if (eventId !== undefined) io.say(line`The webhook ${eventId} is delivered again, now.\n`)
    io.out(renderDeliveries(seen))
  }
  return EXIT.done
}
