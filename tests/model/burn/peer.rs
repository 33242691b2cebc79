// SPDX-License-Identifier: Apache-2.0
//! Burn itself as the other side: writes two modules in every format that this Burn has, and loads what others wrote.
//!
//! usage: peer write DIR
//!        peer same MODULE FILE ORIGINAL     both are loaded; ends with 1 if a bit of a parameter or an id differs

use burn::backend::NdArray;
use burn::module::{Module, Param, ParamId};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{BatchNorm, BatchNormConfig, Dropout, DropoutConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig, Relu};
use burn::record::{
    BinBytesRecorder, BinFileRecorder, BinGzFileRecorder, FullPrecisionSettings, HalfPrecisionSettings, JsonGzFileRecorder,
    NamedMpkFileRecorder, NamedMpkGzFileRecorder, PrettyJsonFileRecorder, Recorder,
};
use burn::tensor::backend::Backend;
use burn::tensor::{Bool, Int, Tensor};
use std::path::{Path, PathBuf};
use std::process::exit;

type Cpu = NdArray<f32>;
#[cfg(feature = "burnpack")]
type Batch<B> = BatchNorm<B>;
#[cfg(not(feature = "burnpack"))]
type Batch<B> = BatchNorm<B, 2>;

/// The network of the sample models: 4 features, 16 hidden units, 3 classes.
#[derive(Module, Debug)]
struct Tiny<B: Backend> {
    linear1: Linear<B>,
    relu: Relu,
    linear2: Linear<B>,
}

/// What else a record can contain: lists, absent parameters, constants, running means, integers and booleans.
#[derive(Module, Debug)]
struct Zoo<B: Backend> {
    layers: Vec<Linear<B>>,
    norm: LayerNorm<B>,
    conv: Conv2d<B>,
    batch: Batch<B>,
    dropout: Dropout,
    plain: Linear<B>,
    pair: [Linear<B>; 2],
    maybe: Option<Linear<B>>,
    steps: usize,
    table: Param<Tensor<B, 1, Int>>,
    mask: Param<Tensor<B, 1, Bool>>,
}

fn tiny() -> Tiny<Cpu> {
    let device = Default::default();
    Tiny { linear1: LinearConfig::new(4, 16).init(&device), relu: Relu::new(), linear2: LinearConfig::new(16, 3).init(&device) }
}

fn zoo() -> Zoo<Cpu> {
    let device = Default::default();
    let linear = |a, b, bias| LinearConfig::new(a, b).with_bias(bias).init(&device);
    Zoo {
        layers: vec![linear(3, 5, true), linear(5, 2, false), linear(300, 2, true)],
        norm: LayerNormConfig::new(5).init(&device),
        conv: Conv2dConfig::new([1, 2], [3, 3]).init(&device),
        batch: BatchNormConfig::new(2).init(&device),
        dropout: DropoutConfig::new(0.5).init(),
        plain: linear(2, 2, false),
        pair: [linear(2, 3, true), linear(3, 2, true)],
        maybe: None,
        steps: 7,
        table: Param::initialized(ParamId::new(), Tensor::from_ints([1, -2, 300], &device)),
        mask: Param::initialized(ParamId::new(), Tensor::from_bool([true, false, true].into(), &device)),
    }
}

type Full = FullPrecisionSettings;

/// Burn draws random parameters when they are first used, newer ones in each clone again: they are drawn here, once.
fn settled<M: Module<Cpu>>(module: M, empty: M) -> M {
    let recorder = BinBytesRecorder::<Full>::default();
    let bytes = Recorder::<Cpu>::record(&recorder, module.into_record(), ()).expect("a record has bytes");
    empty.load_record(Recorder::<Cpu>::load(&recorder, bytes, &Default::default()).expect("bytes are a record"))
}

fn write<M: Module<Cpu> + Clone>(module: &M, dir: &Path, name: &str) {
    let path = |form: &str| -> PathBuf { dir.join(format!("{name}-{form}")) };
    let done = "a file is written";
    module.clone().save_file(path("full"), &BinFileRecorder::<Full>::new()).expect(done);
    module.clone().save_file(path("half"), &BinFileRecorder::<HalfPrecisionSettings>::new()).expect(done);
    module.clone().save_file(path("full"), &BinGzFileRecorder::<Full>::new()).expect(done);
    module.clone().save_file(path("full"), &NamedMpkFileRecorder::<Full>::new()).expect(done);
    module.clone().save_file(path("half"), &NamedMpkFileRecorder::<HalfPrecisionSettings>::new()).expect(done);
    module.clone().save_file(path("full"), &NamedMpkGzFileRecorder::<Full>::new()).expect(done);
    module.clone().save_file(path("full"), &PrettyJsonFileRecorder::<Full>::new()).expect(done);
    module.clone().save_file(path("full"), &JsonGzFileRecorder::<Full>::new()).expect(done);
}

#[cfg(feature = "burnpack")]
fn write_pack<M: burn::store::ModuleSnapshot<Cpu>>(module: &M, dir: &Path, name: &str) {
    let mut store = burn::store::BurnpackStore::from_file(dir.join(format!("{name}-full.bpk")));
    module.save_into(&mut store).expect("a burnpack is written");
    let mut store = burn::store::SafetensorsStore::from_file(dir.join(format!("{name}-full.safetensors")));
    module.save_into(&mut store).expect("a safetensors file is written");
}

fn load<M: Module<Cpu>>(empty: M, path: &str) -> Vec<u8> {
    let device = Default::default();
    let file = PathBuf::from(path);
    let loaded = match path.rsplit('.').next() {
        Some("bin") => empty.load_file(file, &BinFileRecorder::<Full>::new(), &device),
        Some("mpk") => empty.load_file(file, &NamedMpkFileRecorder::<Full>::new(), &device),
        _ => panic!("{path}: only .bin and .mpk are loaded"),
    };
    let module = loaded.unwrap_or_else(|error| {
        eprintln!("{path}: {error}");
        exit(1)
    });
    Recorder::<Cpu>::record(&BinBytesRecorder::<Full>::default(), module.into_record(), ()).expect("a record has bytes")
}

fn same(module: &str, file: &str, original: &str) -> bool {
    match module {
        "tiny" => load(tiny(), file) == load(tiny(), original),
        _ => load(zoo(), file) == load(zoo(), original),
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["write", dir] => {
            let dir = Path::new(dir);
            let (tiny, zoo) = (settled(tiny(), tiny()), settled(zoo(), zoo()));
            write(&tiny, dir, "tiny");
            write(&zoo, dir, "zoo");
            #[cfg(feature = "burnpack")]
            write_pack(&tiny, dir, "tiny");
            #[cfg(feature = "burnpack")]
            write_pack(&zoo, dir, "zoo");
        }
        ["same", module, file, original] => {
            if !same(module, file, original) {
                eprintln!("{file} and {original} differ");
                exit(1);
            }
        }
        _ => {
            eprintln!("usage: peer write DIR | peer same tiny|zoo FILE ORIGINAL");
            exit(2);
        }
    }
}
