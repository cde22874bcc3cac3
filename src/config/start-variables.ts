type Variables = Readonly<Record<string, string | undefined>>

/** What a start asks of the environment before the settings are read: colour, and where Node.js keeps compiled code. */
export function startVariables(): Variables {
  const { NO_COLOR, FORCE_COLOR, TERM, NODE_COMPILE_CACHE } = process.env
  return { NO_COLOR, FORCE_COLOR, TERM, NODE_COMPILE_CACHE }
}
