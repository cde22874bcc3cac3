type Variables = Readonly<Record<string, string | undefined>>

/** What a start asks of the environment before the settings are read: colour, and where Node.js keeps compiled code. */
export function startVariables(): Variables {
  const { NO_COLOR, FORCE_COLOR, TERM, NODE_COMPILE_CACHE } = process.env
  return { NO_COLOR, FORCE_COLOR, TERM, NODE_COMPILE_CACHE }
}

/** Whether the environment asks for traces, in OpenTelemetry's own variables, and names who receives them. */
export function asksForTraces(environment: Variables): boolean {
  const isOff =
    environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || environment['OTEL_TRACES_EXPORTER'] === 'none'
  return (
    !isOff && Boolean(environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_ENDPOINT'])
  )
}
