/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes runs under noise whose digits are known, without an agent: make_digits NAME FILE RUN.
 *
 * A small machine with a number of registers computes in doubles; every operation is emitted as a
 * call with its operands and its result, and each result is changed by about one unit of its last
 * digit, from a generator that RUN seeds. RUN 0 is without noise. Lines are those of an imaginary
 * program.py, and the same in all runs. One file, though a long one: a list of programs, a few
 * lines each, for the same machine.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/trace.h>

#define NAMES_MAX 64u

static struct wt_writer *writer;
static uint64_t seq = 1, now, state, run;
static char names[NAMES_MAX][64];
static unsigned name_count;
static unsigned site_count;
static uint32_t flags; /* of calls */
static bool with_samples = true;
static bool is_half;                      /* numbers are rounded to half precision */
static const char *source = "program.py"; /* that lines are of */

static void must(int r)
{
	if (r < 0) {
		fprintf(stderr, "make_digits: error %d\n", r);
		exit(1);
	}
}

static uint32_t name(const char *text)
{
	for (unsigned i = 0; i < name_count; i++) {
		if (!strcmp(names[i], text))
			return i + 1;
	}
	snprintf(names[name_count++], sizeof(names[0]), "%s", text);
	must(wt_writer_string(writer, name_count, text, strlen(text)));
	return name_count;
}

static void put(uint16_t kind, const uint64_t *values, struct wt_text text)
{
	must(wt_writer_append(writer, kind, 1, seq++, now += 1000, values, WT_FIELDS_MAX, &text));
}

static uint32_t site(unsigned line)
{
	struct wt_site one = {name(source), name("main"), line};

	must(wt_writer_site(writer, ++site_count, &one));
	return site_count;
}

static uint64_t bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* U(-1, 1) of the last digit, rounded: 1/4, 1/2, 1/4. Whole numbers stay. */
static double perturbed(double x)
{
	uint64_t bits = mix(state += 0x9e3779b97f4a7c15u) >> 62;

	if (is_half) {
		double ulp = ldexp(1, x == 0 ? 0 : ilogb(x) - 10);
		bool is_noisy = run && x != floor(x);

		return (double)(_Float16)x + (is_noisy && bits < 2 ? (bits ? ulp : -ulp) : 0);
	}
	if (!run || x == 0 || !isfinite(x) || x == floor(x))
		return x;
	return bits == 0 ? nextafter(x, INFINITY) : bits == 1 ? nextafter(x, -INFINITY) : x;
}

static void tensor(const char *called, uint64_t call, int position, const double *x, unsigned count)
{
	uint64_t values[WT_FIELDS_MAX] = {0}, own = seq, hash = count, sampled = count;
	double min = INFINITY, max = -INFINITY;
	_Float16 halves[64];
	char shape[16];

	snprintf(shape, sizeof(shape), "%u", count);
	values[WT_TENSOR_FIELD_NAME] = *called ? name(called) : 0;
	values[WT_TENSOR_FIELD_DTYPE] = is_half ? WT_DTYPE_F16 : WT_DTYPE_F64;
	values[WT_TENSOR_FIELD_SHAPE] = name(shape);
	values[WT_TENSOR_FIELD_COUNT] = count;
	values[WT_TENSOR_FIELD_CALL] = call;
	values[WT_TENSOR_FIELD_POSITION] = (uint64_t)(int64_t)position;
	for (unsigned i = 0; i < count; i++) {
		halves[i % 64] = (_Float16)x[i];
		hash = mix(hash ^ bits_of(x[i]));
		values[WT_TENSOR_FIELD_NAN] += isnan(x[i]) != 0;
		values[WT_TENSOR_FIELD_INF] += isinf(x[i]) != 0;
		values[WT_TENSOR_FIELD_ZEROS] += x[i] == 0;
		min = isfinite(x[i]) ? fmin(min, x[i]) : min;
		max = isfinite(x[i]) ? fmax(max, x[i]) : max;
	}
	values[WT_TENSOR_FIELD_MIN] = bits_of(min);
	values[WT_TENSOR_FIELD_MAX] = bits_of(max);
	values[WT_TENSOR_FIELD_HASH] = hash;
	put(WT_KIND_TENSOR, values, (struct wt_text){"", 0});
	if (with_samples)
		put(WT_KIND_SAMPLE, (uint64_t[WT_FIELDS_MAX]){own, sampled, 0},
		    (struct wt_text){is_half ? (const char *)halves : (const char *)x,
				     count * (is_half ? sizeof(halves[0]) : sizeof(double))});
}

static void begin(const char *callee, unsigned line, uint64_t *ret_call)
{
	*ret_call = seq;
	put(WT_KIND_CALL_BEGIN,
	    (uint64_t[WT_FIELDS_MAX]){name(callee), name("numpy"), site(line), flags},
	    (struct wt_text){"", 0});
}

static void end(const char *callee)
{
	put(WT_KIND_CALL_END, (uint64_t[WT_FIELDS_MAX]){name(callee), 0}, (struct wt_text){"", 0});
}

/* An operation on numbers or on arrays; a scalar serves all elements. */
static void apply(const char *callee, unsigned line, double (*f)(double, double), const double *a,
		  unsigned a_count, const double *b, unsigned b_count, double *out)
{
	unsigned count = a_count > b_count ? a_count : b_count;
	uint64_t call;

	begin(callee, line, &call);
	tensor("", call, 0, a, a_count);
	if (b)
		tensor("", call, 1, b, b_count);
	for (unsigned i = 0; i < count; i++)
		out[i] = perturbed(f(a[a_count > 1 ? i : 0], b ? b[b_count > 1 ? i : 0] : 0));
	tensor("", call, -1, out, count);
	end(callee);
}

static double add(double a, double b)
{
	return a + b;
}
static double subtract(double a, double b)
{
	return a - b;
}
static double multiply(double a, double b)
{
	return a * b;
}
static double divide(double a, double b)
{
	return a / b;
}
static double root(double a, double b)
{
	(void)b;
	return sqrt(a);
}
static double exponential(double a, double b)
{
	(void)b;
	return exp(a);
}

static double op(const char *callee, unsigned line, double (*f)(double, double), double a, double b)
{
	double out;

	apply(callee, line, f, &a, 1, &b, 1, &out);
	return out;
}
#define ADD(line, a, b) op("numpy.add", line, add, a, b)
#define SUB(line, a, b) op("numpy.subtract", line, subtract, a, b)
#define MUL(line, a, b) op("numpy.multiply", line, multiply, a, b)
#define DIV(line, a, b) op("numpy.divide", line, divide, a, b)

static void step(uint64_t number)
{
	put(WT_KIND_CONTEXT, (uint64_t[WT_FIELDS_MAX]){name("step"), WT_VALUE_TYPE_INT, number},
	    (struct wt_text){"", 0});
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* The smaller root of x^2 - 1e6 x + 1, by the schoolbook: line 13 cancels. */
static void make_quadratic(void)
{
	double b = 1234567.1, d, s;

	d = SUB(11, MUL(10, b, b), 4);
	apply("numpy.sqrt", 12, root, &d, 1, NULL, 0, &s);
	DIV(14, SUB(13, b, s), 2);
}

/* The same by the stable formula. */
static void make_stable_quadratic(void)
{
	double b = 1234567.1, d, s;

	d = SUB(11, MUL(10, b, b), 4);
	apply("numpy.sqrt", 12, root, &d, 1, NULL, 0, &s);
	DIV(14, 2, ADD(13, b, s));
}

/* Each round doubles the error: line 22, a little in each. */
static void make_logistic(void)
{
	double x = .3;

	for (unsigned i = 0; i < 40; i++) {
		step(i);
		x = MUL(22, MUL(22, 3.9, x), SUB(22, 1, x));
		tensor("x", 0, -1, &x, 1);
	}
}

/* Compensated: what line 33 gives has no digits, and needs none. */
static void make_kahan(void)
{
	double s = 0, c = 0;

	for (unsigned i = 1; i <= 200; i++) {
		double y = SUB(31, 1. / i, c), t = ADD(32, s, y);

		c = SUB(33, SUB(33, t, s), y);
		s = t;
	}
	tensor("sum", 0, -1, &s, 1);
}

/* Newton's iteration: the residual at line 41 cancels, and the result is right. */
static void make_newton(void)
{
	double x = 1.5;

	for (unsigned i = 0; i < 8; i++) {
		double f = SUB(41, MUL(40, x, x), 2.1), d = DIV(42, f, MUL(42, 2, x));

		x = SUB(43, x, d);
	}
}

/* Vectors: the differences of large close numbers, hidden in the norm by a large one. */
static void make_elements(void)
{
	double a[64], b[64], c[64], d[64];

	for (unsigned i = 0; i < 64; i++) {
		a[i] = 1 + .1 * i;
		b[i] = 1 + .1 * i;
	}
	apply("numpy.sqrt", 50, root, a, 64, NULL, 0, c);
	for (unsigned i = 1; i < 64; i++)
		b[i] = sqrt(a[i]) * (1 + 1e-12);
	b[0] = 1e9;
	apply("numpy.subtract", 51, subtract, c, 64, b, 64, d);
	apply("numpy.multiply", 52, multiply, d, 64, a, 64, c);
}

/* exp overflows at line 60; line 61 passes it on. */
static void make_overflow(void)
{
	double x[] = {1, 800, 3}, y[3], z[3], w[3];

	apply("numpy.exp", 60, exponential, x, 3, NULL, 0, y);
	apply("numpy.subtract", 61, subtract, y, 3, y, 3, z);
	apply("numpy.add", 62, add, z, 3, x, 3, w);
}

/* Weights that updates of line 71 do not change. */
static void make_absorbed(void)
{
	double w[] = {1000.5, 2000.25}, g[] = {1e-14, -1e-14}, out[2];

	for (unsigned i = 0; i < 30; i++) {
		step(i);
		apply("numpy.subtract", 71, subtract, w, 2, g, 2, out);
		memcpy(w, out, sizeof(w));
	}
}

/* Runs part at a comparison: odd runs do one more round, and go on as the others do. */
static void make_divergent(void)
{
	double x = .7;

	for (unsigned i = 0; i < 5 + run % 2; i++)
		x = MUL(80, x, 1.1);
	if (run == 2)
		ADD(81, x, 1);
	for (unsigned i = 0; i < 20; i++)
		x = MUL(82, x, .99);
}

/* Generators without a seed. */
static void make_random(void)
{
	double x[4], y[4];
	uint64_t call;

	begin("numpy.random.normal", 90, &call);
	for (unsigned i = 0; i < 4; i++)
		x[i] = (double)(int64_t)mix(run * 77 + i) * 0x1p-63;
	tensor("", call, -1, x, 4);
	end("numpy.random.normal");
	apply("numpy.sqrt", 91, root, (double[]){2, 3, 4.5, 5}, 4, NULL, 0, y);
	apply("numpy.multiply", 92, multiply, x, 4, y, 4, y);
}

/* The shape depends on the run. */
static void make_shapes(void)
{
	double x[] = {1.5, 2.5, 3.5, 4.5}, y[4];

	apply("numpy.sqrt", 95, root, x, run == 2 ? 3 : 4, NULL, 0, y);
	apply("numpy.sqrt", 96, root, x, 4, NULL, 0, y);
}

/* The last run is cut inside a call. */
static void make_cut(void)
{
	double x = .7;
	uint64_t call;

	for (unsigned i = 0; i < 20; i++) {
		x = MUL(85, x, 1.1);
		if (run == 3 && i == 9) {
			begin("numpy.add", 86, &call);
			return;
		}
	}
}

static void make_unsampled(void)
{
	with_samples = false;
	make_quadratic();
}

/* Half precision: 600 roundings of 64 numbers, and a wider type at the end. Nobody's fault. */
static void make_honest(void)
{
	double x[64], c = 1.1;
	uint64_t call;

	is_half = true;
	for (unsigned i = 0; i < 64; i++)
		x[i] = (double)(_Float16)(1.1 + .01 * i);
	for (unsigned i = 0; i < 600; i++)
		apply("numpy.multiply", 100, i % 2 ? divide : multiply, x, 64, &c, 1, x);
	begin("Tensor.to", 101, &call);
	tensor("", call, 0, x, 64);
	is_half = false;
	tensor("", call, -1, x, 64);
	end("Tensor.to");
	apply("numpy.multiply", 102, multiply, x, 64, &c, 1, x);
}

/* A sum in half precision that ends to grow at 1024: fewer than half of the additions. */
static void make_stalled(void)
{
	double s = 929.5;

	is_half = true;
	for (unsigned i = 0; i < 360; i++)
		s = ADD(110, s, .45);
}

/* The same, compensated. */
static void make_compensated(void)
{
	double s = 929.5, c = 0;

	is_half = true;
	for (unsigned i = 0; i < 360; i++) {
		double y = SUB(115, .45, c), t = ADD(116, s, y);

		c = SUB(117, SUB(117, t, s), y);
		s = t;
	}
}

/* w.add_(g, alpha=1e-20) */
static void make_scaled(void)
{
	double w = 1.5, g = 1.25, alpha = 1e-20;
	uint64_t call;

	for (unsigned i = 0; i < 30; i++) {
		begin("Tensor.add_", 120, &call);
		tensor("", call, 0, &w, 1);
		tensor("", call, 1, &g, 1);
		put(WT_KIND_ARGUMENT,
		    (uint64_t[WT_FIELDS_MAX]){[WT_ARGUMENT_FIELD_NAME] = name("alpha"),
					      [WT_ARGUMENT_FIELD_CALL] = call,
					      [WT_ARGUMENT_FIELD_POSITION] = 2,
					      [WT_ARGUMENT_FIELD_TYPE] = WT_VALUE_TYPE_FLOAT,
					      [WT_ARGUMENT_FIELD_VALUE] = bits_of(alpha)},
		    (struct wt_text){"", 0});
		w = perturbed(w + alpha * g);
		tensor("", call, -1, &w, 1);
		end("Tensor.add_");
	}
}

/* Line 131 cancels; that one element of three has all digits excuses nothing. */
static void make_picked(void)
{
	double a[] = {1e9 + .3, 2e9 + .3, 1e9}, b[3], c[] = {1e9 + .2, 2e9 + .2, 1e9 - 1}, d[3];
	uint64_t call;

	apply("numpy.multiply", 130, multiply, a, 3, (double[]){1}, 1, b);
	apply("numpy.subtract", 131, subtract, b, 3, c, 3, d);
	begin("unbind", 132, &call);
	tensor("", call, 0, d, 3);
	tensor("[0]", call, -1, d, 1);
	d[2] = nextafter(d[2], 2 + (double)run);
	tensor("[2]", call, -1, d + 2, 1);
	end("unbind");
}

/* Two equal numbers change places. */
static void make_sorted(void)
{
	double a[] = {1.1, 1.1}, b[] = {.3, -.3}, c[2], d[2];
	uint64_t call;

	apply("numpy.sqrt", 140, root, a, 2, NULL, 0, c);
	apply("numpy.multiply", 140, multiply, c, 2, b, 2, d);
	begin("numpy.sort", 141, &call);
	tensor("", call, 0, d, 2);
	if (run % 2) {
		double first = d[0];

		d[0] = d[1];
		d[1] = first;
	}
	tensor("", call, -1, d, 2);
	end("numpy.sort");
}

/* Memory as it was found. */
static void make_empty(void)
{
	double x[] = {(double)run * 1e30 + .5, NAN}, y;
	uint64_t call;

	begin("torch.empty", 150, &call);
	tensor("", call, -1, x, 2);
	end("torch.empty");
	apply("numpy.sqrt", 151, root, (double[]){2}, 1, NULL, 0, &y);
}

/* The quadratic, deep inside a library: nobody gets to see what line 13 loses. */
static void make_inner(void)
{
	flags = WT_CALL_INNER;
	make_quadratic();
	flags = 0;
	make_stable_quadratic();
}

/* Runs part, and shapes differ, inside a library that no line of the program leads to. */
static void make_inside(void)
{
	double x[] = {1.5, 2.5, 3.5}, y[3], z = .7;

	source = "/usr/lib/python3/dist-packages/library/inner.py";
	for (unsigned i = 0; i < 5 + run % 2; i++)
		z = MUL(160, z, 1.1);
	apply("numpy.sqrt", 161, root, x, run == 2 ? 2 : 3, NULL, 0, y);
}

/*
 * Versions of one program: a*b + a*c, with lines added above. The middle is computed in another way
 * in each: as it was, so that nothing is lost, with a value that nobody uses, and with a shift that
 * costs digits. The last has no result of the same shape.
 */
static void make_version(unsigned line, int way)
{
	double a = DIV(line, 1.3, 7), b = DIV(line + 1, 2.9, 7), c = DIV(line + 2, .1, 7), d;
	double two[2];

	if (way == 1) {
		d = MUL(line + 3, a, ADD(line + 3, b, c));
	} else if (way == 3) {
		d = ADD(line + 3, SUB(line + 3, ADD(line + 3, MUL(line + 3, a, b), 1e5), 1e5),
			MUL(line + 3, a, c));
	} else {
		d = ADD(line + 3, MUL(line + 3, a, b), MUL(line + 3, a, c));
	}
	if (way == 2)
		MUL(line + 4, c, c);
	if (way == 4)
		apply("numpy.multiply", line + 5, multiply, (double[]){d, a}, 2, &b, 1, two);
	else
		MUL(line + 5, d, b);
}

static void make_version_1(void)
{
	make_version(170, 0);
}

static void make_version_moved(void)
{
	make_version(181, 0);
}

static void make_version_rewritten(void)
{
	make_version(173, 1);
}

static void make_version_longer(void)
{
	make_version(175, 2);
}

static void make_version_shifted(void)
{
	make_version(173, 3);
}

static void make_version_other(void)
{
	make_version(173, 4);
}

/* A name whose value scatters more in each step, as parameters in training do. */
static void make_growing(void)
{
	for (unsigned i = 0; i < 32; i++) {
		double x = 1.5 + (run == 9 && !i ? 1e-9 : 0) +
			   ldexp((double)(mix(state++) % 1000) / 1000, (int)i - 52) *
				   (run != 0 && run != 9);

		step(i);
		tensor("x", 0, -1, &x, 1);
	}
}

static void call_of(const char *callee, unsigned line, const double *in, const double *out,
		    unsigned out_count)
{
	uint64_t call;

	begin(callee, line, &call);
	tensor("", call, 0, in, 3);
	tensor("", call, -1, out, out_count);
	end(callee);
}

/*
 * The largest element of a residual: the same in all noisy runs, and one rounding larger in run 9,
 * whose residual has no negative element. In run 8 it is no element of the residual.
 */
static void make_largest(void)
{
	const double unit = 0x1p-52, ones[3] = {1, 1, 1};
	double scatter = (double)(mix(state++) % 1000) / 500 - 1;
	double left[3] = {unit, run > 5 ? 0 : scatter * unit, 0}, size[3], largest;

	left[0] *= run == 9 ? 2 : 1;
	left[1] = run ? left[1] : -unit;
	for (unsigned i = 0; i < 3; i++)
		size[i] = fabs(left[i]);
	largest = run == 8 ? 2 * unit : left[0];
	call_of("subtract", 230, ones, left, 3);
	call_of("absolute", 231, left, size, 3);
	call_of("_wrapreduction", 232, size, &largest, 1);
}

/*
 * A library looks for the minimum of (x - 2/7)^2 + c, and returns a container: x and the value
 * there, which is nearly 0. The differences are those of an iteration, not of a sum.
 */
static double minimum_of(double c, const char *field)
{
	double x = 1.3, y = 0, where = 2. / 7;
	uint64_t call;

	begin("minimize", 190, &call);
	flags = WT_CALL_INNER;
	for (unsigned i = 0; i < 24; i++) {
		double away = SUB(190, x, where), far[2] = {away, 0}, both[2];

		y = ADD(190, MUL(190, away, away), c);
		x = where + away / 8 + (run ? ldexp((double)(mix(state++) % 100), -60) : 0);
		apply("numpy.multiply", 190, multiply, far, 2, &x, 1, both);
	}
	flags = 0;
	tensor("[x]", call, -1, &x, 1);
	tensor(field, call, -1, &y, 1);
	end("minimize");
	return y;
}

static void make_minimum(void)
{
	minimum_of(0, "[fun]");
}

/* The same number of rounds, of a sum that ends near 0: what it loses is lost. */
static void make_rounds(void)
{
	double sum = 1e9 / 7;
	uint64_t call;

	begin("polynomial", 195, &call);
	flags = WT_CALL_INNER;
	for (unsigned i = 0; i < 24; i++)
		sum = SUB(195, sum, DIV(195, i < 23 ? 1e9 / 24 : 1e9 / 24 - 1e-3, 7));
	flags = 0;
	tensor("[value]", call, -1, &sum, 1);
	end("polynomial");
}

/* A library loses digits inside; the program has them in an attribute, and goes on with them. */
static void make_attribute(void)
{
	double a = DIV(200, 1e9, 7), loose, tight;

	flags = WT_CALL_INNER;
	loose = SUB(201, a, DIV(201, 1e9 - 1e-3, 7));
	flags = 0;
	tight = ADD(202, a, loose);
	tensor("__main__.a", 0, -1, &a, 1);
	tensor("__main__.model.loose_", 0, -1, &loose, 1);
	tensor("__main__.tight", 0, -1, &tight, 1);
}

/* The same without the attribute: a step on the way to a good sum. */
static void make_variable(void)
{
	double a = DIV(200, 1e9, 7), loose, tight;

	flags = WT_CALL_INNER;
	loose = SUB(201, a, DIV(201, 1e9 - 1e-3, 7));
	flags = 0;
	tight = ADD(202, a, loose);
	tensor("__main__.loose", 0, -1, &loose, 1);
	tensor("__main__.tight", 0, -1, &tight, 1);
}

static const struct {
	const char *name;
	void (*make)(void);
} programs[] = {
	{"quadratic", make_quadratic},
	{"stable_quadratic", make_stable_quadratic},
	{"logistic", make_logistic},
	{"kahan", make_kahan},
	{"newton", make_newton},
	{"elements", make_elements},
	{"overflow", make_overflow},
	{"absorbed", make_absorbed},
	{"divergent", make_divergent},
	{"random", make_random},
	{"shapes", make_shapes},
	{"cut", make_cut},
	{"unsampled", make_unsampled},
	{"honest", make_honest},
	{"stalled", make_stalled},
	{"compensated", make_compensated},
	{"scaled", make_scaled},
	{"picked", make_picked},
	{"sorted", make_sorted},
	{"empty", make_empty},
	{"inside", make_inside},
	{"inner", make_inner},
	{"version_1", make_version_1},
	{"version_moved", make_version_moved},
	{"version_rewritten", make_version_rewritten},
	{"version_longer", make_version_longer},
	{"version_shifted", make_version_shifted},
	{"version_other", make_version_other},
	{"growing", make_growing},
	{"largest", make_largest},
	{"minimum", make_minimum},
	{"rounds", make_rounds},
	{"attribute", make_attribute},
	{"variable", make_variable},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	struct wt_track track = {1, WT_TRACK_THREAD, 7, 0, "main", 4};
	struct wt_writer_options options;
	struct wt_err err;
	unsigned i = 0;

	if (argc != 4)
		return 2;
	run = strtoull(argv[3], NULL, 10);
	state = mix(run + 1);
	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	options.identity.pid = 42;
	must(wt_writer_create(argv[2], &options, &writer, &err));
	must(wt_writer_track(writer, &track));
	if (run)
		put(WT_KIND_SETTING, (uint64_t[WT_FIELDS_MAX]){name("noise"), WT_VALUE_TYPE_TEXT},
		    (struct wt_text){"rr", 2});
	while (programs[i].name && strcmp(programs[i].name, argv[1]))
		i++;
	if (!programs[i].name)
		return 2;
	programs[i].make();
	must(wt_writer_finish(writer, &err));
	wt_writer_free(writer);
	return 0;
}
