grant insert, update on remit.embedding_spaces, remit.index_states to remit_writer;
grant insert, update, delete on remit.derivatives, remit.vectors, remit.vector_centroids, remit.vector_lists,
    remit.lexical_objects, remit.lexical_tokens to remit_writer;
-- How vectors are compared where there is no pgvector. Distances: the smaller the nearer.
create function remit.cosine_distance(a real[], b real[]) returns double precision
language sql immutable parallel safe
as $$
    select 1 - coalesce(sum(x::float8 * y::float8)
                        / nullif(sqrt(sum(x::float8 * x::float8)) * sqrt(sum(y::float8 * y::float8)), 0), 0)
      from unnest(a, b) as u(x, y)
$$;
create function remit.l2_distance(a real[], b real[]) returns double precision
language sql immutable parallel safe
as $$
    select sqrt(sum((x::float8 - y::float8) * (x::float8 - y::float8))) from unnest(a, b) as u(x, y)
$$;
create function remit.inner_product_distance(a real[], b real[]) returns double precision
language sql immutable parallel safe
as $$
    select -sum(x::float8 * y::float8) from unnest(a, b) as u(x, y)
$$;
revoke all on function remit.cosine_distance(real[], real[]), remit.l2_distance(real[], real[]),
    remit.inner_product_distance(real[], real[]) from public;
grant execute on function remit.cosine_distance(real[], real[]), remit.l2_distance(real[], real[]),
    remit.inner_product_distance(real[], real[]) to remit_app, remit_writer;
