// Usage of keys in the last minute, for all gateways on one database. There is a row per key and second of the database's clock.
// The oldest second counts until all of it is a minute ago, so no 60 seconds ever have more than the limit.
import type { Query } from 'everlong/internal/node'
import type { Uses } from '../limits/uses.ts'

const text = 'text COLLATE "C" NOT NULL'

/**
 * One call per request. The requests of a key are counted one after the other: each statement of the function sees everything
 * that earlier ones committed. Counts of a minute need not survive a crash.
 */
export const usesMigration: readonly string[] = [
  `CREATE UNLOGGED TABLE $schema.use (
    tenant ${text}, key ${text}, second bigint, requests bigint NOT NULL, tokens bigint NOT NULL, PRIMARY KEY (tenant, key, second)
  )`,
  `CREATE FUNCTION $schema.count_use(of_tenant text, of_key text, new_tokens bigint, max_requests bigint, max_tokens bigint)
   RETURNS TABLE ("limit" text, "waitMs" float8) LANGUAGE plpgsql AS $function$
   DECLARE
     clock float8;
     this_second bigint;
     found record;
   BEGIN
     PERFORM pg_advisory_xact_lock(hashtextextended(jsonb_build_array('$schema', of_tenant, of_key)::text, 0));
     clock := extract(epoch FROM clock_timestamp());
     this_second := floor(clock);
     DELETE FROM $schema.use WHERE tenant = of_tenant AND key = of_key AND second < this_second - 60;
     SELECT coalesce(sum(requests), 0) AS requests, coalesce(sum(tokens), 0) AS tokens,
       min(second) FILTER (WHERE requests > 0) AS first_request, min(second) FILTER (WHERE tokens > 0) AS first_token
     INTO found FROM $schema.use WHERE tenant = of_tenant AND key = of_key;
     IF found.requests >= max_requests THEN
       RETURN QUERY SELECT 'requestsPerMinute', (found.first_request + 61 - clock) * 1000;
     ELSIF found.tokens >= max_tokens THEN
       RETURN QUERY SELECT 'tokensPerMinute', (found.first_token + 61 - clock) * 1000;
     ELSE
       INSERT INTO $schema.use VALUES (of_tenant, of_key, this_second, CASE WHEN new_tokens > 0 THEN 0 ELSE 1 END, new_tokens)
       ON CONFLICT (tenant, key, second) DO UPDATE SET
         requests = use.requests + excluded.requests, tokens = use.tokens + excluded.tokens;
     END IF;
   END $function$`,
]

export function usesIn(run: Query): Uses {
  const count = (...values: readonly unknown[]) => run('SELECT * FROM $schema.count_use($1, $2, $3, $4, $5)', values)
  return {
    enter: async ({ tenant, key }, { requestsPerMinute = null, tokensPerMinute = null }) => {
      const [over] = await count(tenant, key, 0, requestsPerMinute, tokensPerMinute)
      const limit = over?.limit === 'requestsPerMinute' ? 'requestsPerMinute' : 'tokensPerMinute'
      return over && { limit, waitMs: Number(over.waitMs) }
    },
    used: async ({ tenant, key }, tokens) => {
      if (tokens > 0) await count(tenant, key, tokens, null, null)
    },
  }
}
