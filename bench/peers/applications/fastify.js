// As the README of Fastify shows it.
import Fastify from 'fastify';

const fastify = Fastify({ logger: true });
fastify.get('/', async () => ({ hello: 'world' }));
await fastify.listen({ port: Number(process.env.PORT) });
